/* bcryptprimitives.dll, where Rust's standard library takes random numbers from. Wine has it from version 9 on. */

#include <windows.h>

/* RtlGenRandom, by the name that advapi32.dll exports it under. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
  while (length > 0) {
    ULONG chunk = length < 0x10000 ? (ULONG)length : 0x10000;
    if (!SystemFunction036(buffer, chunk)) return FALSE;
    buffer += chunk;
    length -= chunk;
  }
  return TRUE;
}
