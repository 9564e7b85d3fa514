// Resolves one query, from the cluster zone or through the machine's name servers.
import type { Forwarder } from "./forwarder.ts";
import type { Lookup, Zone } from "./cluster-records.ts";
import {
  type Query,
  type Reply,
  type ResourceRecord,
  isInternet,
  payloadOf,
  readName,
  readQuery,
  recordTypes,
  recordsOf,
  responseCodes,
  writeError,
  writeReply,
} from "./wire.ts";

export interface ResolverOptions {
  readonly zone: Zone;
  /**
   * Reports whether services are listed; before that, existing names cannot be distinguished from missing
   * ones.
   */
  readonly isReady: () => boolean;
  readonly forwarder: Pick<Forwarder, "resolve" | "isPending">;
  /** Reports whether an address belongs to an upstream server. */
  readonly isUpstream: (address: string) => boolean;
  /** Returns a random integer from 0 up to, but excluding, `below`. */
  readonly random: (below: number) => number;
  readonly observe?: (query: Query, code: number) => void;
}

export type Resolver = (
  message: Uint8Array,
  client: { readonly address: string; readonly over: "udp" | "tcp" },
) => Promise<Uint8Array | undefined>;

const maxMessageLength = 65_535;
const maxAliases = 8;

export function resolver({
  zone,
  isReady,
  forwarder,
  isUpstream,
  random,
  observe,
}: ResolverOptions): Resolver {
  return async (message, { address, over }) => {
    const parsed = readQuery(message);
    if (parsed.is === "ignored") return undefined;
    if (parsed.is === "broken") return writeError(parsed.id, parsed.code);
    const { query } = parsed;
    const limit = over === "tcp" ? maxMessageLength : payloadOf(query);
    const reply = await answer(query, address);
    const bytes =
      reply instanceof Uint8Array ? truncateIfNeeded(query, reply, limit) : writeReply(query, reply, limit);
    observe?.(query, bytes[3]! & 15);
    return bytes;
  };

  async function answer(query: Query, client: string): Promise<Reply | Uint8Array> {
    if (!isInternet(query)) return empty(responseCodes.refused);
    const result = zone.lookup(query.name, query.type);
    if (result.is === "elsewhere") return await forwarded(query, client);
    if (!isReady()) return empty(responseCodes.serverFailure);
    return await fromZone(query, result, client);
  }

  async function fromZone(query: Query, first: Lookup, client: string): Promise<Reply> {
    const chain: ResourceRecord[] = [];
    let result = first;
    while (result.is === "alias" && chain.length < maxAliases) {
      chain.push(result.record);
      const { target } = result;
      result = zone.lookup(target, query.type);
      if (result.is !== "elsewhere") continue;
      const question = questionAbout(query, target);
      const upstreamReply = await forwarder.resolve(question, client).catch(() => undefined);
      const answers = [...chain, ...(upstreamReply ? addressesIn(upstreamReply) : [])];
      return { code: responseCodes.noError, authoritative: true, answers };
    }
    if (result.is === "found")
      return {
        code: responseCodes.noError,
        authoritative: true,
        answers: [...chain, ...rotated(result.records)],
        additional: result.additional ?? [],
      };
    const code =
      result.is === "no such name" && chain.length === 0 ? responseCodes.noSuchName : responseCodes.noError;
    return { code, authoritative: true, answers: chain, authority: [zone.authority] };
  }

  async function forwarded(query: Query, client: string): Promise<Reply | Uint8Array> {
    if (!query.recursionDesired) return empty(responseCodes.refused);
    // An upstream server forwarded our own query back to us: break the loop.
    if (isUpstream(client) && forwarder.isPending(query)) return empty(responseCodes.refused);
    return (await forwarder.resolve(query, client)) ?? empty(responseCodes.serverFailure);
  }

  /** Rotates records, since clients use the first address. */
  function rotated(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
    if (records.length < 2) return records;
    const from = random(records.length);
    return [...records.slice(from), ...records.slice(0, from)];
  }
}

const empty = (code: Reply["code"]): Reply => ({ code, authoritative: false, answers: [] });

/** Truncates a reply too long for UDP to its question, so that the client retries over TCP. */
function truncateIfNeeded(query: Query, reply: Uint8Array, limit: number): Uint8Array {
  if (reply.length <= limit) return reply;
  const truncated = writeReply(query, empty(responseCodes.noError), limit);
  truncated[2] = truncated[2]! | 2;
  return truncated;
}

/** Returns the same question about another name. */
function questionAbout(query: Query, name: string): Query {
  const labels = name === "" ? [] : name.split(".");
  const question = Buffer.concat([
    ...labels.map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")])),
    Buffer.from([0, query.type >> 8, query.type & 255, 0, 1]),
  ]);
  return { ...query, name, question, recursionDesired: true, edns: undefined };
}

/** Returns the addresses and aliases in the answer section of an upstream reply. */
function addressesIn(reply: Uint8Array): ResourceRecord[] {
  const view = Buffer.from(reply.buffer, reply.byteOffset, reply.length);
  const found: ResourceRecord[] = [];
  for (const { start, type, ttlAt, data, end, section } of recordsOf(reply)) {
    if (section !== 0) break;
    const common = { name: readName(reply, start).text, ttl: view.readUInt32BE(ttlAt) };
    if (type === recordTypes.A && end - data === 4)
      found.push({ ...common, type: "A", address: view.subarray(data, end).join(".") });
    else if (type === recordTypes.AAAA && end - data === 16)
      found.push({
        ...common,
        type: "AAAA",
        address: view.subarray(data, end).toString("hex").match(/.{4}/g)!.join(":"),
      });
    else if (type === recordTypes.CNAME)
      found.push({ ...common, type: "CNAME", target: readName(reply, data).text });
  }
  return found;
}
