// Loaded before a server that would listen on all addresses: it listens on this machine's own one, and says on which port.
import net from "node:net";

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.error(`listening on http://127.0.0.1:${this.address().port}`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...rest.filter((one) => typeof one === "function"));
};
