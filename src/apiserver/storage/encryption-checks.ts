// Validation of the encryption configuration, in the order and wording of kube-apiserver.
import type { EncryptionProviderConfig, EncryptionRule, KmsConfig } from "#api";
import {
  type FieldError,
  LiteralValue,
  durationMillis,
  invalidValue,
  required,
  urlProblem,
  urlScheme,
} from "#base";
import { type Dialect, groupName } from "#dialect";
import { decodedBase64 } from "#schema";

export interface GroupResource {
  readonly resource: string;
  readonly group: string;
}

/** Parses `secrets`, `deployments.apps`, `*.apps`, `*.` for the core group, or `*.*` for everything. */
export function groupResource(text: string): GroupResource {
  const cut = text.indexOf(".");
  return cut < 0
    ? { resource: text, group: "" }
    : { resource: text.slice(0, cut), group: text.slice(cut + 1) };
}

export const defaultTimeout = "3s";
export const defaultKmsVersion = "v1";

/** Returns all validation errors. With `reload` the names of KMS v1 providers must be unique, too. */
export function encryptionErrors(
  rules: readonly EncryptionRule[],
  { reload, dialect }: { readonly reload: boolean; readonly dialect: Dialect },
): FieldError[] {
  if (rules.length === 0) return [required("resources", "at least one resources is required")];
  const names = new Set<string>();
  return rules.flatMap(({ resources, providers }, at) => {
    const [ofResources, ofProviders] = [`resources[${at}].resources`, `resources[${at}].providers`];
    return [
      ...(resources?.length ? [] : [required(ofResources, `at least one ${ofResources} is required`)]),
      ...overlapErrors(resources ?? [], ofResources),
      ...(resources ?? []).flatMap((name, index) => nameErrors(name, `${ofResources}[${index}]`, dialect)),
      ...(providers?.length ? [] : [required(ofProviders, `at least one ${ofProviders} is required`)]),
      ...(providers ?? []).flatMap((each, index) =>
        providerErrors(each, `${ofProviders}[${index}]`, { names, reload }),
      ),
    ];
  });
}

const isAll = ({ resource, group }: GroupResource): boolean => resource === "*" && group === "*";

function overlapErrors(names: readonly string[], path: string): FieldError[] {
  const parsed = names.map(groupResource);
  let [repeats, overlaps] = [false, false];
  parsed.forEach((one, at) =>
    parsed.forEach((other, index) => {
      if (at === index) return;
      const isSame = one.resource === other.resource && one.group === other.group;
      if (isSame && !repeats) repeats = true;
      else if (isAll(one) || (one.group === other.group && [one, other].some(isWild))) overlaps = true;
    }),
  );
  return [
    ...(repeats ? [invalidValue(path, names, "the same resource cannot be specified multiple times")] : []),
    ...(overlaps
      ? [
          invalidValue(
            path,
            names,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
          ),
        ]
      : []),
  ];
}

const isWild = ({ resource }: GroupResource): boolean => resource === "*";

/** Names of stored data that are not API objects; encryption does not apply to them. */
const notObjects: ReadonlySet<string> = new Set([
  "apiserveripinfo",
  "serviceipallocations",
  "servicenodeportallocations",
]);

function nameErrors(name: string, path: string, dialect: Dialect): FieldError[] {
  const wrong = (detail: string): FieldError[] => [invalidValue(path, name, detail)];
  if (name.toLowerCase() !== name) return wrong("resource name should not contain capital letters");
  if (name === "*")
    return wrong("use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources");
  if (notObjects.has(name)) return wrong("resources which do not have REST API/s cannot be encrypted");
  const { resource, group } = groupResource(name);
  const events = groupName(dialect, { group: "events", branded: true });
  if (group === events)
    return wrong(
      `'*.${events}' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file`,
    );
  if (group === "extensions")
    return wrong("'extensions' group has been removed and cannot be used for encryption");
  if (group === "*" && resource !== "*")
    return wrong("encrypting the same resource across groups is not supported");
  return [];
}

interface ServiceNames {
  readonly names: Set<string>;
  readonly reload: boolean;
}

function providerErrors(
  provider: EncryptionProviderConfig,
  path: string,
  services: ServiceNames,
): FieldError[] {
  const { kms, aesgcm, aescbc, secretbox, identity } = provider;
  const given = [kms, aesgcm, aescbc, secretbox, identity].filter((each) => each !== undefined);
  const errors =
    given.length === 1
      ? []
      : [
          invalidValue(
            path,
            new LiteralValue(formatProvider(provider)),
            given.length === 0
              ? "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"
              : "more than one provider specified in a single element, should split into different list elements",
          ),
        ];
  if (kms) errors.push(...kmsErrors(kms, `${path}.kms`, services));
  else if (aesgcm) errors.push(...keyErrors(aesgcm.keys, `${path}.aesgcm.keys`, [16, 24, 32]));
  else if (aescbc) errors.push(...keyErrors(aescbc.keys, `${path}.aescbc.keys`, [16, 24, 32]));
  else if (secretbox) errors.push(...keyErrors(secretbox.keys, `${path}.secretbox.keys`, [32]));
  if (kms) services.names.add(kms.name);
  return errors;
}

/** Formats a provider as Go does, without the addresses in memory. */
function formatProvider({ aesgcm, aescbc, secretbox, identity, kms }: EncryptionProviderConfig): string {
  const fields = [
    ["AESGCM", "AES", aesgcm],
    ["AESCBC", "AES", aescbc],
    ["Secretbox", "Secretbox", secretbox],
    ["Identity", "Identity", identity],
    ["KMS", "KMS", kms],
  ] as const;
  const shown = fields.map(
    ([name, type, value]) => `${name}:(*config.${type}Configuration)(${value === undefined ? "nil" : "set"})`,
  );
  return `config.ProviderConfiguration{${shown.join(", ")}}`;
}

type Keys = NonNullable<EncryptionProviderConfig["aesgcm"]>["keys"];

function keyErrors(keys: Keys | undefined, path: string, lengths: readonly number[]): FieldError[] {
  if (!keys?.length) return [required(path, "at least one keys is required")];
  return keys.flatMap(({ name, secret }, at) => {
    const errors = name === "" ? [required(`${path}[${at}].name`, mandatory("name", "key"))] : [];
    const ofSecret = `${path}[${at}].secret`;
    if (secret === "") return [...errors, required(ofSecret, mandatory("secret", "key"))];
    const bytes = decodedBase64(secret);
    if (!bytes) return [...errors, invalidValue(ofSecret, "REDACTED", "secrets must be base64 encoded")];
    if (!lengths.includes(bytes.length))
      errors.push(
        invalidValue(
          ofSecret,
          "REDACTED",
          `secret is not of the expected length, got ${bytes.length}, expected one of [${lengths.join(" ")}]`,
        ),
      );
    return errors;
  });
}

const mandatory = (field: string, of: string): string => `${field} is a mandatory field for a ${of}`;

function kmsErrors(
  { apiVersion: given, name, timeout, endpoint, cachesize }: KmsConfig,
  path: string,
  { names, reload }: ServiceNames,
): FieldError[] {
  const version = given || defaultKmsVersion;
  const errors: FieldError[] = [];
  const wrong = (field: string, value: unknown, detail: string): void =>
    void errors.push(invalidValue(`${path}.${field}`, value, detail));
  if (name === "") errors.push(required(`${path}.name`, mandatory("name", "provider")));
  if (version !== "v1" && name.includes(":"))
    wrong("name", name, `invalid KMS provider name ${name}, must not contain ':'`);
  if ((reload || version !== "v1") && names.has(name))
    wrong("name", name, `duplicate KMS provider name ${name}, names must be unique`);
  const milliseconds = durationMillis(timeout ?? defaultTimeout);
  if (milliseconds <= 0)
    wrong(
      "timeout",
      new LiteralValue(`v1.Duration{Duration:${Math.round(milliseconds * 1_000_000)}}`),
      "timeout should be a positive value",
    );
  const problem = urlProblem(endpoint);
  if (endpoint === "") wrong("endpoint", "", mandatory("endpoint", "kms"));
  else if (problem !== undefined)
    wrong("endpoint", endpoint, `invalid endpoint for kms provider, error: ${problem}`);
  else if (urlScheme(endpoint) !== "unix") {
    const scheme = JSON.stringify(urlScheme(endpoint));
    wrong("endpoint", endpoint, `unsupported scheme ${scheme} for KMS provider, only unix is supported`);
  }
  if (version !== "v1" && cachesize !== undefined)
    wrong("cachesize", cachesize, "cachesize is not supported in v2");
  if (version === "v1" && cachesize === 0)
    wrong("cachesize", cachesize, "cachesize should be a positive value, or negative to disable");
  if (version !== "v1" && version !== "v2")
    wrong(
      "apiVersion",
      version,
      "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported",
    );
  return errors;
}
