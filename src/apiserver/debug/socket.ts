// The debug socket: profiling without authentication, protected by the permissions of the socket file.
import { ApiError } from "#base";
import type { Call, Reply } from "#http";
import { ApiCall, type PathHandler } from "#endpoints";

const text = { "content-type": "text/plain; charset=utf-8" };

export function plainHandler(handle: PathHandler): (call: Call) => Promise<Reply> {
  return async (call) => {
    try {
      return (
        (await handle(new ApiCall(call, ""))) ?? {
          status: 404,
          headers: text,
          body: Buffer.from("404 page not found\n"),
        }
      );
    } catch (error) {
      return {
        status: error instanceof ApiError ? error.code : 500,
        headers: text,
        body: Buffer.from(`${(error as Error).message}\n`),
      };
    }
  };
}
