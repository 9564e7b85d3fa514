// Pipelined HTTP/1.1 requests: Node reads them all and would handle them at once. Here those of one
// connection are handled one after the other, in the order in which their responses are sent, so that a write
// sees the previous one, and a connection that closes ends all of its requests.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A client that sends more requests without waiting for a response is disconnected. */
const maxWaiting = 100;

export class RequestsInTurn {
  /** The requests behind the one that is being handled. */
  private readonly waiting = new WeakMap<Socket, (() => void)[]>();

  /** Handles the request once the responses to earlier ones on its connection have been sent. */
  handle(socket: Socket, response: ServerResponse, run: () => void): void {
    const start = (): void => {
      response.once("close", () => this.next(socket));
      run();
    };
    const queue = this.waiting.get(socket);
    if (!queue) {
      this.waiting.set(socket, []);
      start();
    } else if (queue.length < maxWaiting) queue.push(start);
    else socket.destroy();
  }

  /** Reports whether a request of the connection is being handled. */
  isBusy(socket: Socket): boolean {
    return this.waiting.has(socket);
  }

  private next(socket: Socket): void {
    const start = socket.destroyed ? undefined : this.waiting.get(socket)?.shift();
    if (start) start();
    else this.waiting.delete(socket);
  }
}
