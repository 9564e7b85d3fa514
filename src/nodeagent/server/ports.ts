// Binds the agent's ports before the agent touches anything: an agent that cannot bind its ports is not the
// agent of this node, and must leave the node's pods alone.
import { networkInterfaces } from "node:os";
import type { TlsOptions } from "node:tls";
import type { CertificatePair } from "#authn";
import type { Clock, Log } from "#base";
import {
  type Call,
  type Listener,
  type PlainListener,
  type Reply,
  listen,
  listenPlain,
  plainReply,
} from "#http";

export interface PortSettings {
  readonly address: string;
  /** Undefined to disable. */
  readonly secure: number | undefined;
  /** 0 to disable. */
  readonly readOnly: number;
  readonly healthAddress: string;
  /** 0 to disable. */
  readonly health: number;
}

type Handler = (call: Call) => Promise<Reply>;

/** The handlers of the ports. */
export interface PortHandlers {
  readonly secure: Handler;
  readonly readOnly: Handler;
  readonly health: Handler;
}

export interface OpenPorts {
  /** The actual number of the secure port. */
  readonly securePort: number | undefined;
  /**
   * Starts handling requests; until then, the secure port has no certificate and the others respond with 503.
   */
  answer(handlers: PortHandlers): void;
  useCertificate(pair: CertificatePair): void;
  close(): Promise<void>;
}

const startingHandler: Handler = () => Promise.resolve(plainReply(503, "the agent is starting"));

interface PortOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly tls: TlsOptions;
}

/** A restarted agent may find its ports still in use by its predecessor, and retries for a while. */
const retryTimeoutMilliseconds = 15_000;
const retryMilliseconds = 250;

export async function openPorts(ports: PortSettings, options: PortOptions): Promise<OpenPorts> {
  const { clock, log } = options;
  const until = clock.monotonic() + retryTimeoutMilliseconds;
  for (let tries = 1; ; tries++) {
    try {
      return await tryPorts(ports, options);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      const { message } = error as Error;
      if (clock.monotonic() >= until)
        throw new Error(
          `${message}: another agent or program has the port; nothing on this node was touched`,
          { cause: error },
        );
      if (tries === 1) log.warn("port is taken; waiting for it", { error: message });
      await clock.sleep(retryMilliseconds);
    }
  }
}

async function tryPorts(ports: PortSettings, { clock, log, tls }: PortOptions): Promise<OpenPorts> {
  const host = everyAddress(ports.address);
  const now = (): number => clock.now();
  const open: (Listener | PlainListener)[] = [];
  let handlers: PortHandlers = {
    secure: startingHandler,
    readOnly: startingHandler,
    health: startingHandler,
  };
  const close = async (): Promise<void> => {
    await Promise.all(open.map((listener) => listener.close()));
  };
  let secure: Listener | undefined;
  try {
    if (ports.secure !== undefined) {
      secure = await listen({
        host,
        port: ports.secure,
        tls: { ...tls, requestCert: true, rejectUnauthorized: false },
        handle: (call) => handlers.secure(call),
        now,
        onInternalError: (error) =>
          log.error("connection closed because of an internal error", {
            error: error.stack ?? error.message,
          }),
      });
      open.push(secure);
    }
    if (ports.readOnly > 0)
      open.push(
        await listenPlain({ host, port: ports.readOnly, handle: (call) => handlers.readOnly(call), now }),
      );
    if (ports.health > 0)
      open.push(
        await listenPlain({
          host: ports.healthAddress,
          port: ports.health,
          handle: (call) => handlers.health(call),
          now,
        }),
      );
  } catch (error) {
    await close();
    throw error;
  }
  return {
    securePort: secure?.address.port,
    answer: (given) => void (handlers = given),
    useCertificate: ({ certificate, key }) => secure?.setSecureContext({ cert: certificate, key }),
    close,
  };
}

/** Maps "0.0.0.0" to "::", since both mean all addresses of both families, if the machine has both. */
const everyAddress = (address: string): string => (address === "0.0.0.0" && hasV6() ? "::" : address);
const hasV6 = (): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));
