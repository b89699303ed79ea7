// An MCP server on stdio in both eras, written with the official TypeScript SDK.
//
// Tools: `echo` answers, `deploy` asks the user first, `touch` says that the list of tools has changed. There is a note to read, and a
// prompt whose argument is completed.
import { McpServer, acceptedContent, completable, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const confirmation = z.object({ confirm: z.boolean(), reason: z.string().default('none') });
const text = (text) => ({ content: [{ type: 'text', text }] });

serveStdio(() => {
  const server = new McpServer(
    { name: 'interop-typescript', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } }, cacheHints: { 'resources/read': { ttlMs: 60_000 } } },
  );
  server.registerTool(
    'echo',
    { description: 'Answer with the message', inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => text(message),
  );
  server.registerTool(
    'deploy',
    { description: 'Deploy, if the user agrees', inputSchema: z.object({ env: z.string() }) },
    async ({ env }, context) => {
      const answer = acceptedContent(context.mcpReq.inputResponses, 'confirm', confirmation);
      if (answer === undefined) {
        const confirm = inputRequired.elicit({ message: `Deploy to ${env}?`, requestedSchema: confirmation });
        return inputRequired({ inputRequests: { confirm }, requestState: `deploying to "${env}" \u00fc` });
      }
      return text(answer.confirm ? `deployed to ${env}: ${answer.reason}` : 'left alone');
    },
  );
  server.registerTool('touch', { description: 'Say that the list of tools has changed' }, async () => {
    server.sendToolListChanged();
    return text('touched');
  });
  server.registerResource('note', 'interop://note', { mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'a note' }],
  }));
  const languages = ['python', 'rust', 'ruby'];
  server.registerPrompt(
    'review',
    {
      description: 'Ask for a review',
      argsSchema: z.object({
        language: completable(z.string(), (begin) => languages.filter((language) => language.startsWith(begin))),
      }),
    },
    ({ language }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Look at it, in ${language}.` } }] }),
  );
  return server;
});
