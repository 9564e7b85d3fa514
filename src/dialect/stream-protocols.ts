// Stream protocols have one spelling on the wire, that of the container runtimes. Clients may also use their
// dialect's spelling.
import { type Dialect, streamProtocols } from "./dialect.ts";

const suffix = streamProtocols.portForward.replace("portforward.", "");

/** Respells each name of a list such as `v4.channel.<suffix>, …` for the runtime. */
export const runtimeProtocols = (dialect: Dialect, offered: string): string =>
  respelled(offered, dialect.wire.groupSuffix, suffix);

/** Respells the protocol that a runtime chose the way the client spelled it in its offer. */
export const clientProtocol = (dialect: Dialect, chosen: string, offered: string): string =>
  offered.includes(chosen) ? chosen : respelled(chosen, suffix, dialect.wire.groupSuffix);

const respelled = (names: string, from: string, to: string): string =>
  names.replaceAll(/[^\s,]+/g, (name) =>
    name.endsWith(`.${from}`) ? name.slice(0, -from.length) + to : name,
  );
