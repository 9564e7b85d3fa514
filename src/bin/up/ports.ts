// A port for the server: the one asked for, the one it had before, or the first free one from the usual one on.
import { createServer } from "node:net";

const usual = 6443;
const tries = 100;

export async function choosePort(host: string, asked: number, before: number | undefined): Promise<number | undefined> {
  if (asked !== 0) return (await isFree(host, asked)) ? asked : undefined;
  const candidates = [...(before === undefined ? [] : [before]), ...Array.from({ length: tries }, (_, at) => usual + at)];
  for (const port of candidates) if (await isFree(host, port)) return port;
  return undefined;
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
