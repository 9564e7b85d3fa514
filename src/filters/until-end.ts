// Callback at the end of a response.
import { type Reply, onceClosed } from "#http";

/** Calls `end` when the response is over: immediately, or when its stream or connection ends. */
export function untilEnd(reply: Reply, end: () => void): Reply {
  const { body } = reply;
  if (body && "stream" in body)
    return {
      ...reply,
      body: {
        stream: async (sink) => {
          try {
            await body.stream(sink);
          } finally {
            end();
          }
        },
      },
    };
  if (body && "takeOver" in body)
    return {
      ...reply,
      body: {
        takeOver: (socket, head) => {
          onceClosed(socket, end);
          body.takeOver(socket, head);
        },
      },
    };
  end();
  return reply;
}
