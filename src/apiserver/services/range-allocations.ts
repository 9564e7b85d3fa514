// Allocations of service IPs and node ports, stored as bitmaps in the format of kube-apiserver, for servers
// and tools that read them. In this server the services themselves are authoritative; these objects are
// derived from them, as kube-apiserver's repair loops do.
//
//   /registry/ranges/serviceips           range 10.0.0.0/24, data 0…01: 10.0.0.1 is taken
//   /registry/ranges/servicenodeports     range 30000-32767
import { RangeAllocation, type Service, inDialect } from "#api";
import { type Dialect, apiVersionOf } from "#dialect";
import type { PortRange } from "#options";
import type { Resource } from "#registry";
import { encodeEnvelope, encodeJson, protobufCodec } from "#schema";
import { type AddressRange, addressRange } from "./address-range.ts";
import { claimsOf, portClaim } from "./service-claims.ts";

export interface RangeAllocationsOptions {
  readonly services: Resource;
  readonly dialect: Dialect;
  readonly storePrefix: string;
  readonly media: "protobuf" | "json";
  readonly ranges: readonly string[];
  readonly ports: PortRange;
}

interface Allocated {
  readonly name: string;
  readonly range: string;
  /** Returns the position of a claim, counted from zero; undefined for claims outside the range. */
  readonly positionOf: (claim: string) => number | undefined;
}

/** Maximum size of kube-apiserver's bitmaps; addresses behind it are never allocated there. */
const maxPositions = 65_536;

/** Returns a function that writes the current allocations, unless the store already has them. */
export function rangeAllocations(options: RangeAllocationsOptions): () => Promise<void> {
  const { services, storePrefix } = options;
  const allocations: readonly Allocated[] = [
    ...options.ranges.map((text, at) => addressAllocations(addressRange(text), at)),
    portAllocations(options.ports),
  ];
  let lastChange: number | undefined;
  return async () => {
    const change = services.source.lastChange();
    if (change === lastChange) return;
    const claims = services.source
      .listCached("")
      .flatMap((cached) => claimsOf((services.objectOf(cached) as unknown as Service).spec));
    await Promise.all(
      allocations.map(async ({ name, range, positionOf }) => {
        const key = `${storePrefix}/ranges/${name}`;
        const data = bitsOf(claims.map(positionOf).filter((position) => position !== undefined));
        const value = encoded({ range, data }, options);
        const [stored] = (await services.store.read({ key })).entries;
        if (stored && Buffer.compare(stored.value, value) === 0) return;
        await services.store.write({ key, value, expect: "any" });
      }),
    );
    lastChange = change;
  };
}

function addressAllocations(range: AddressRange, at: number): Allocated {
  return {
    name: at === 0 ? "serviceips" : "secondaryserviceips",
    range: range.text,
    positionOf: (claim) => {
      const position = range.positionOf(claim);
      return position === undefined || position > maxPositions ? undefined : position - 1;
    },
  };
}

function portAllocations({ from, to }: PortRange): Allocated {
  const start = portClaim("");
  return {
    name: "servicenodeports",
    range: `${from}-${to}`,
    positionOf: (claim) => {
      const port = claim.startsWith(start) ? Number(claim.slice(start.length)) : -1;
      return port >= from && port <= to ? port - from : undefined;
    },
  };
}

/** Encodes a big-endian number in which these bits are set, without leading zero bytes. */
export function bitsOf(positions: readonly number[]): Uint8Array {
  const highest = positions.reduce((most, position) => Math.max(most, position), -1);
  const bytes = new Uint8Array(Math.ceil((highest + 1) / 8));
  for (const position of positions) bytes[bytes.length - 1 - (position >> 3)]! |= 1 << (position & 7);
  return bytes;
}

function encoded(
  { range, data }: { readonly range: string; readonly data: Uint8Array },
  { dialect, media }: Pick<RangeAllocationsOptions, "dialect" | "media">,
): Uint8Array {
  const schema = inDialect(dialect, RangeAllocation);
  const type = { apiVersion: apiVersionOf(dialect, schema.kind), kind: schema.kind.kind };
  const object = {
    ...type,
    metadata: { creationTimestamp: null },
    range,
    data: Buffer.from(data).toString("base64"),
  };
  return media === "json"
    ? Buffer.from(encodeJson(schema, object as never))
    : encodeEnvelope(type, protobufCodec(schema).encode(object), dialect.wire.protobufMagic);
}
