// Options of the storage.

import { posix } from "node:path";
import type { Dialect } from "#dialect";
import {
  type OptionType,
  Refusal,
  bool,
  directory,
  duration,
  file,
  int,
  listOf,
  notNegative,
  oneOf,
  option,
  section,
  text,
} from "#options";

/**
 * The common prefix of all keys. Parsed as an absolute path, with or without leading and trailing slashes.
 */
const keyPrefix: OptionType<string> = {
  ...text,
  parse: (given) => posix.join("/", given).replace(/\/$/, ""),
};

/** `scheme://host:port`, or `memory://`. */
const inMemory = "memory://";
const storeServer: OptionType<string> = {
  ...text,
  parse: (given) => {
    const address = given.trim();
    if (address === inMemory) return address;
    if (!/^(https?|unix|unixs):\/\/.+$/.test(address) || !URL.canParse(address))
      throw new Refusal("must be a store's address such as https://10.0.0.1:2379, or memory://");
    return address;
  },
};

export interface StoreOverride {
  readonly group: string;
  readonly resource: string;
  readonly servers: readonly string[];
}
/** `group/resource#server;server`. */
const storeOverride: OptionType<StoreOverride> = {
  name: "group/resource#url;url",
  parse: (given) => {
    const found = /^([a-z0-9.-]*)\/([a-z0-9]+)#(.+)$/.exec(given.trim());
    const servers = found?.[3]!.split(";").filter((server) => server !== "") ?? [];
    if (!found || servers.length === 0)
      throw new Refusal("must be group/resource#servers, with servers as URLs separated by semicolons");
    return {
      group: found[1]!,
      resource: found[2]!,
      servers: servers.map((server) => storeServer.parse(server)),
    };
  },
  read: (value) => storeOverride.parse(text.read(value)),
  write: (value) => storeOverride.format(value),
  format: ({ group, resource, servers }) => `${group}/${resource}#${servers.join(";")}`,
};

export interface WatchCacheSize {
  readonly resource: string;
  readonly group: string;
  readonly size: number;
}
/** `resource[.group]#size`. */
const watchCacheSize: OptionType<WatchCacheSize> = {
  name: "resource[.group]#size",
  parse: (given) => {
    const found = /^([a-z0-9]+)(?:\.([a-z0-9.-]+))?#([0-9]{1,9})$/.exec(given.trim());
    if (!found)
      throw new Refusal(
        "must be resource[.group]#size, the resource a lower-case plural without version, the size not negative",
      );
    return { resource: found[1]!, group: found[2] ?? "", size: Number(found[3]) };
  },
  read: (value) => watchCacheSize.parse(text.read(value)),
  write: (value) => watchCacheSize.format(value),
  format: ({ resource, group, size }) => `${resource}${group && `.${group}`}#${size}`,
};

export const storageSection = (dialect: Dialect) =>
  section("Storage", [
    option({
      flag: "store-servers",
      type: listOf(storeServer),
      default: [],
      doc: "Storage servers to connect to, as scheme://address:port. Without them the embedded store in --data-dir is used; memory:// keeps everything in memory.",
    }),
    option({
      flag: "data-dir",
      type: directory,
      default: "",
      doc: "Directory of the embedded store. Required if --store-servers is not set.",
    }),
    option({
      flag: "store-servers-overrides",
      type: listOf(storeOverride),
      default: [],
      doc: "Per-resource overrides of the storage servers, as group/resource#servers with servers separated by semicolons. Only for built-in resources.",
    }),
    option({
      flag: "store-cafile",
      type: file,
      default: "",
      readable: true,
      doc: "CA bundle that verifies the store's server certificates.",
    }),
    option({
      flag: "store-certfile",
      type: file,
      default: "",
      readable: true,
      doc: "Client certificate for connections to the store.",
    }),
    option({
      flag: "store-keyfile",
      type: file,
      default: "",
      readable: true,
      doc: "Key of the client certificate for connections to the store.",
    }),
    option({
      flag: "store-prefix",
      type: keyPrefix,
      default: "/registry",
      doc: "Prefix of all keys in the store.",
    }),
    option({
      flag: "store-compaction-interval",
      type: duration,
      default: 300_000,
      check: notNegative,
      doc: "Interval of compaction requests; 0 disables compaction by this server.",
    }),
    option({
      flag: "store-count-metric-poll-period",
      type: duration,
      default: 60_000,
      check: notNegative,
      doc: "How often the number of objects per resource is polled for metrics; 0 disables it.",
    }),
    option({
      flag: "store-db-metric-poll-interval",
      type: duration,
      default: 30_000,
      check: notNegative,
      doc: "How often the size of the store is polled for metrics; 0 disables it.",
    }),
    option({
      flag: "store-healthcheck-timeout",
      type: duration,
      default: 2000,
      check: notNegative,
      doc: "Timeout of the store's health check.",
    }),
    option({
      flag: "store-readycheck-timeout",
      type: duration,
      default: 2000,
      check: notNegative,
      doc: "Timeout of the store's readiness check.",
    }),
    option({
      flag: "storage-backend",
      type: oneOf("", "etcd3"),
      default: "",
      defaultText: "derived from --store-servers",
      doc: "Storage backend.",
    }),
    option({
      flag: "storage-media-type",
      // Scripts pass an empty value to use the default; as in the original that means JSON.
      type: oneOf("application/json", "application/yaml", dialect.wire.protobufMediaType, ""),
      default: dialect.wire.protobufMediaType,
      // JSON is also the form held in the caches, so each write is encoded once instead of twice.
      derive: (look) =>
        (look.value("storeServers") as readonly string[]).every((server) => server === inMemory)
          ? { value: "application/json", from: "the embedded store" }
          : undefined,
      unavailableFor: (type) =>
        type === "application/yaml" ? "objects are stored as JSON or in the binary form" : undefined,
      doc: `Media type of stored objects: application/json, application/yaml or ${dialect.wire.protobufMediaType}. Some resources may not follow it. The embedded store holds application/json unless this is given.`,
    }),
    option({
      flag: "encryption-provider-config",
      type: file,
      default: "",
      doc: "File with the configuration of encryption at rest, such as of secrets.",
    }),
    option({
      flag: "encryption-provider-config-automatic-reload",
      type: bool,
      default: false,
      doc: "Reload the file of --encryption-provider-config when it changes. Health checks then do not distinguish the KMS plugins.",
    }),
    option({
      flag: "watch-cache",
      type: bool,
      default: true,
      doc: "Serve reads and watches from an in-memory cache.",
    }),
    option({
      flag: "default-watch-cache-size",
      type: int,
      default: 100,
      deprecated: "watch caches are sized automatically and this flag will be removed in a future version",
      idle: "caches are sized automatically",
      doc: "Former number of changes kept by a watch cache.",
    }),
    option({
      flag: "watch-cache-sizes",
      type: listOf(watchCacheSize),
      default: [],
      doc: "Watch cache settings per resource, as resource[.group]#size: 0 disables the cache of the resource, any other size has no effect. Only for built-in resources, and only with --watch-cache.",
    }),
  ]);
