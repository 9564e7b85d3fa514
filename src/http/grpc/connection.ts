// One endpoint and the HTTP/2 session to it: established on first use and again after it is lost, with a
// growing backoff while connecting fails.
import type { ClientHttp2Session } from "node:http2";
import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { checkServerIdentity, trust } from "../server-identity.ts";
import { type Clock, nodeHttp2 } from "#base";
import type { Dial } from "../dial.ts";
import { GrpcError } from "./status.ts";

/** PEM text for a TLS connection. A function is called for every connection, so that the files may change. */
export interface TlsMaterial {
  readonly ca?: string | Uint8Array;
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** The name expected in the server's certificate, if it is not the endpoint's host. */
  readonly serverName?: string;
}

export interface ConnectionSettings {
  readonly tls: TlsMaterial | (() => TlsMaterial | Promise<TlsMaterial>) | undefined;
  readonly dial?: Dial | undefined;
  readonly clock: Clock;
  readonly connectMilliseconds: number;
  /** Backoff between failed attempts: the first pause and the maximum. */
  readonly backOff: { readonly firstMilliseconds: number; readonly maxMilliseconds: number };
  /**
   * Sends a ping after this much silence while calls are open; the session is closed if the server does not
   * answer in time.
   */
  readonly keepAlive:
    | { readonly everyMilliseconds: number; readonly timeoutMilliseconds: number }
    | undefined;
}

const streamWindowBytes = 4 << 20;
const sessionWindowBytes = 16 << 20;

export class Connection {
  readonly endpoint: string;
  /** The authority sent with requests. */
  readonly authority: string;
  readonly secure: boolean;
  readonly #url: URL;
  readonly #settings: ConnectionSettings;
  #session: ClientHttp2Session | undefined;
  #connecting: Promise<ClientHttp2Session> | undefined;
  readonly #sockets = new Set<Socket>();
  #failures = 0;
  #responded = false;
  #backoffUntil = 0;
  #lastFailure: Error | undefined;
  #lastActivityAt = 0;
  #open = 0;
  #closed = false;

  constructor(endpoint: string, settings: ConnectionSettings) {
    this.endpoint = endpoint;
    this.#url = new URL(endpoint);
    if (!["http:", "https:", "unix:"].includes(this.#url.protocol))
      throw new TypeError(
        `endpoint ${JSON.stringify(endpoint)} must start with http://, https:// or unix://`,
      );
    this.secure = this.#url.protocol === "https:";
    this.authority = this.#url.protocol === "unix:" ? "localhost" : this.#url.host;
    this.#settings = settings;
  }

  /** No new attempt is made before this time; in the past if there is no backoff. */
  get backoffUntil(): number {
    return this.#session ? 0 : this.#backoffUntil;
  }

  get lastFailure(): Error | undefined {
    return this.#lastFailure;
  }

  /**
   * Records that the server sent something: it is alive, and the next failure starts with a short backoff
   * again.
   */
  recordActivity(): void {
    this.#lastActivityAt = this.#settings.clock.monotonic();
    this.#failures = 0;
    this.#responded = true;
  }

  /** Counts open calls, since keep-alive pings are sent only during calls. */
  opened(): void {
    this.#open++;
  }
  released(): void {
    this.#open--;
  }

  /** Returns the session, connecting if necessary. Concurrent callers share one attempt. */
  session(): Promise<ClientHttp2Session> {
    if (this.#closed)
      return Promise.reject(
        new GrpcError("UNAVAILABLE", "the channel is closed", { unprocessed: true, endpoint: this.endpoint }),
      );
    if (this.#session) return Promise.resolve(this.#session);
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** Ends the session and every call on it. */
  close(): void {
    this.#closed = true;
    this.#session?.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #connect(): Promise<ClientHttp2Session> {
    try {
      const socket = await this.#socket();
      const session = await this.#handshake(socket);
      if (this.#closed) {
        session.destroy();
        throw new Error("the channel is closed");
      }
      this.#adopt(session);
      return session;
    } catch (error) {
      this.#failed(error as Error);
      throw new GrpcError("UNAVAILABLE", `cannot connect to ${this.endpoint}: ${(error as Error).message}`, {
        unprocessed: true,
        endpoint: this.endpoint,
        cause: error,
      });
    }
  }

  #failed(error: Error): void {
    const { firstMilliseconds, maxMilliseconds } = this.#settings.backOff;
    const pause = Math.min(maxMilliseconds, firstMilliseconds * 1.6 ** this.#failures++);
    this.#backoffUntil = this.#settings.clock.monotonic() + pause * (0.8 + 0.4 * Math.random());
    this.#lastFailure = error;
  }

  async #socket(): Promise<Socket> {
    const { tls, dial } = this.#settings;
    const material = this.secure ? await (typeof tls === "function" ? tls() : (tls ?? {})) : undefined;
    const host = this.#url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(this.#url.port || (this.secure ? 443 : 80));
    const dialed = this.#url.protocol === "unix:" ? undefined : await dial?.({ host, port });
    const socket =
      this.#url.protocol === "unix:"
        ? connectPlain({ path: socketPath(this.#url) })
        : material
          ? connectTls({
              ...(dialed ? { socket: dialed } : { host, port }),
              ALPNProtocols: ["h2"],
              checkServerIdentity,
              servername: material.serverName ?? (isIP(host) ? "" : host),
              ...(material.ca && trust(Buffer.from(material.ca))),
              ...(material.cert && { cert: Buffer.from(material.cert) }),
              ...(material.key && { key: Buffer.from(material.key) }),
            })
          : (dialed ?? connectPlain({ host, port }));
    socket.on("error", () => {});
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.setNoDelay(true);
    if (dialed && !material) return socket;
    return this.#timed(socket, (resolve) => {
      socket.once(material ? "secureConnect" : "connect", () => resolve(socket));
    });
  }

  // Resolves when the server has sent its settings: the kernel accepts connections even for a process that
  // hangs.
  #handshake(socket: Socket): Promise<ClientHttp2Session> {
    const session = nodeHttp2().connect(`${this.secure ? "https" : "http"}://${this.authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      maxSessionMemory: 1024,
      maxSendHeaderBlockLength: 1 << 16,
    });
    session.on("error", () => {});
    session.on("frameError", () => {});
    session.once("connect", () => session.setLocalWindowSize(sessionWindowBytes));
    return this.#timed(socket, (resolve, reject) => {
      session.once("error", reject);
      session.once("close", () => reject(new Error("the server closed the connection")));
      session.once("remoteSettings", () => resolve(session));
    });
  }

  #timed<T>(
    socket: Socket,
    run: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const lost = (error?: unknown): void =>
        fail(error instanceof Error ? error : new Error("the server closed the connection"));
      const settle = (): void => {
        stopTimer();
        socket.off("error", lost);
        socket.off("close", lost);
      };
      const fail = (error: Error): void => {
        settle();
        socket.destroy();
        reject(error);
      };
      const stopTimer = this.#settings.clock.after(this.#settings.connectMilliseconds, () =>
        fail(new Error(`no answer within ${this.#settings.connectMilliseconds} ms`)),
      );
      socket.once("error", lost);
      socket.once("close", lost);
      run((value) => {
        settle();
        resolve(value);
      }, fail);
    });
  }

  #adopt(session: ClientHttp2Session): void {
    this.#session = session;
    this.#lastActivityAt = this.#settings.clock.monotonic();
    this.#responded = false;
    const drop = (): void => {
      if (this.#session === session) this.#session = undefined;
    };
    let lastError: Error | undefined;
    session.on("error", (error: Error) => {
      lastError = error;
    });
    // After GOAWAY, active calls finish on the old session; new calls use a new one.
    session.on("goaway", drop);
    session.on("close", () => {
      drop();
      // A session lost before the server sent anything counts as a failed attempt; otherwise a broken server
      // would be retried in a tight loop.
      if (!this.#closed && !this.#responded)
        this.#failed(lastError ?? new Error("the server closed the connection"));
    });
    if (this.#settings.keepAlive) this.#startKeepAlive(session, this.#settings.keepAlive);
  }

  /**
   * Called when a call's deadline passed: pings the server at once, unless something has been received from
   * it since.
   */
  checkAlive(since: number): void {
    if (this.#lastActivityAt <= since) this.#ping();
  }
  #ping = (): void => {};

  #startKeepAlive(
    session: ClientHttp2Session,
    { everyMilliseconds, timeoutMilliseconds }: NonNullable<ConnectionSettings["keepAlive"]>,
  ): void {
    const { clock } = this.#settings;
    let stop = (): void => {};
    let pinged = false;
    const ping = (): void => {
      if (session.destroyed || pinged) return;
      pinged = true;
      stop();
      stop = clock.after(timeoutMilliseconds, () =>
        session.destroy(new Error(`no sign of life within ${timeoutMilliseconds} ms`)),
      );
      try {
        session.ping((error) => {
          stop();
          pinged = false;
          if (error || session.destroyed) return;
          this.#lastActivityAt = clock.monotonic();
          stop = clock.after(everyMilliseconds, checkIdle);
        });
      } catch {
        // The session was closed at this moment; its close event follows.
      }
    };
    const checkIdle = (): void => {
      if (this.#open > 0 && clock.monotonic() - this.#lastActivityAt >= everyMilliseconds) ping();
      else stop = clock.after(everyMilliseconds, checkIdle);
    };
    this.#ping = ping;
    stop = clock.after(everyMilliseconds, checkIdle);
    session.once("close", () => stop());
  }
}

/** Returns the socket path; `unix:///@name` is an abstract socket. */
function socketPath({ pathname }: URL): string {
  const path = decodeURIComponent(pathname);
  return path.startsWith("/@") ? `\0${path.slice(2)}` : path;
}
