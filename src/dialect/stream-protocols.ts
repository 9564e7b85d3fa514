// Stream protocols have one spelling on the wire, the container runtimes'. Clients that spell them in their
// own dialect are understood too.
import { type Dialect, streamProtocols } from "./dialect.ts";

const suffix = streamProtocols.portForward.replace("portforward.", "");

/** Each name of a list such as `v4.channel.<suffix>, …`, as runtimes spell it. */
export const runtimeProtocols = (dialect: Dialect, offered: string): string =>
  respelled(offered, dialect.wire.groupSuffix, suffix);

/** A runtime's answer, as the client spelled what it offered. */
export const clientProtocol = (dialect: Dialect, chosen: string, offered: string): string =>
  offered.includes(chosen) ? chosen : respelled(chosen, suffix, dialect.wire.groupSuffix);

const respelled = (names: string, from: string, to: string): string =>
  names.replaceAll(/[^\s,]+/g, (name) =>
    name.endsWith(`.${from}`) ? name.slice(0, -from.length) + to : name,
  );
