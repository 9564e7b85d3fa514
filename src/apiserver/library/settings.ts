// Converts the options of a library call to the settings of a server.
import type { Dialect } from "#dialect";
import { settle } from "#options";
import { tokenKeyChecks } from "../options/checks.ts";
import { type ApiserverSettings, apiserverOptions } from "../options/options.ts";
import type { ServerOptions } from "../library.ts";

export function settingsFor(dialect: Dialect, { store, flags = [], port }: ServerOptions): ApiserverSettings {
  const set = apiserverOptions(dialect);
  const settled = settle({ ...set, checks: set.checks.filter((check) => !tokenKeyChecks.includes(check)) }, [
    ...storeFlags(store),
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    ...(flags.some(isAuthorizationConfig) ? [] : ["--authorization-mode=RBAC"]),
    "--service-account-issuer=https://local.invalid",
    ...(port ? [`--secure-port=${port}`] : []),
    ...flags,
  ]);
  if (settled.requested) throw new Error(`--${settled.requested} is for the program, not for the library`);
  if (settled.errors.length > 0)
    throw new Error(`the server cannot start with these flags: ${settled.errors.join("; ")}`);
  return port === 0 ? { ...settled.values, securePort: 0 } : settled.values;
}

const isAuthorizationConfig = (flag: string): boolean => /^--authorization[-_]config=/.test(flag);

function storeFlags(store: ServerOptions["store"]): readonly string[] {
  if (store === "memory") return ["--store-servers=memory://"];
  // Callers from JavaScript have no type checks.
  const { dir, etcd } = Object(store) as { readonly dir?: unknown; readonly etcd?: unknown };
  if (typeof dir === "string") return [`--data-dir=${dir}`];
  if (!Array.isArray(etcd))
    throw new Error(
      `store: ${JSON.stringify(store)} is none of "memory", { dir: "/path" } and { etcd: ["https://…"] }`,
    );
  if (etcd.length === 0) throw new Error("a store in etcd needs the address of at least one server");
  return [`--store-servers=${etcd.join(",")}`];
}
