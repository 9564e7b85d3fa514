// Static pods fetched from a URL periodically.
import { request as requestHttps } from "node:https";
import type { Pod } from "#api";
import type { Clock, Log } from "#base";
import { type ManifestOptions, readManifest } from "./static-pod.ts";

// A plain import of this module would load an entire web client as well.
const { request: requestHttp } = process.getBuiltinModule("node:http");

export interface UrlSourceOptions extends Omit<ManifestOptions, "origin" | "isFile"> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly periodMilliseconds: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly onPods: (pods: readonly Pod[]) => void;
  readonly onProblem?: (message: string) => void;
}

const timeoutMilliseconds = 10_000;
const maxBodyBytes = 10 * 1024 * 1024;

export async function urlSource(options: UrlSourceOptions, signal: AbortSignal): Promise<void> {
  let last: string | undefined;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const text = await fetched(options.url, options.headers, signal);
      if (text === "") {
        // As in the kubelet, this removes the pods.
        options.onPods([]);
        last = undefined;
        throw new Error(`zero-length data received from ${options.url}`);
      }
      if (text !== last) {
        options.onPods(readManifest(text, { ...options, origin: options.url, isFile: false }));
        last = text;
      }
      failures = 0;
    } catch (error) {
      // The first failures are logged, later ones are not.
      if (!signal.aborted && failures++ < 3) {
        options.log.error("failed to read static pods from URL", {
          url: options.url,
          error: (error as Error).message,
        });
        options.onProblem?.((error as Error).message);
      }
    }
    await options.clock.sleep(options.periodMilliseconds, signal).catch(() => undefined);
  }
}

function fetched(url: string, headers: UrlSourceOptions["headers"], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? requestHttps : requestHttp;
    const sent = send(
      url,
      { headers: headers as Record<string, string | string[]>, timeout: timeoutMilliseconds, signal },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => {
          text += part;
          if (text.length > maxBodyBytes)
            sent.destroy(new Error(`${url} sent more than ${maxBodyBytes} bytes`));
        });
        answer.on("end", () => {
          if (answer.statusCode !== 200)
            reject(new Error(`${url}: ${answer.statusCode} ${answer.statusMessage ?? ""}`));
          else resolve(text);
        });
        answer.on("error", reject);
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`${url} did not answer`)));
    sent.on("error", reject);
    sent.end();
  });
}
