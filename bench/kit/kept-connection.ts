// Requests to a server over kept-alive connections.
import { Agent, request } from "node:https";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface KeptConnection {
  call(method: string, path: string, body?: object): Promise<Answer>;
  close(): void;
}

export function keptConnection(
  { url, ca, token }: { readonly url: string; readonly ca: string; readonly token: string },
  maxSockets = 1,
): KeptConnection {
  const agent = new Agent({ keepAlive: true, maxSockets });
  const call = (method: string, path: string, body?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const headers = { authorization: `Bearer ${token}`, ...(body && { "content-type": type }) };
      const sent = request(new URL(path, url), { agent, ca, method, headers }, (reply) => {
        const parts: Buffer[] = [];
        reply.on("data", (part: Buffer) => parts.push(part));
        reply.on("end", () =>
          resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(parts).toString("utf8") }),
        );
      });
      sent.on("error", reject).end(body && JSON.stringify(body));
    });
  return { call, close: () => agent.destroy() };
}

/** Throws unless the response is a success. */
export async function mustCall(
  over: KeptConnection,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await over.call(method, path, body);
  if (answer.status > 299) throw new Error(`${method} ${path} was answered with ${answer.status}`);
  return answer;
}
