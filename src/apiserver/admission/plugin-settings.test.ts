import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { dialects } from "#dialect";
import { readPluginConfigs } from "./config-file.ts";
import type { Fields } from "./config-reader.ts";
import {
  eventLimits,
  imagePolicy,
  limitedResources,
  nodeSelectors,
  securityDefaults,
  tolerations,
  webhookCredentials,
} from "./plugin-settings.ts";

const dialect = dialects.orch;
const suffix = dialect.wire.groupSuffix;
const folder = mkdtempSync(join(tmpdir(), "admission-"));
after(() => rmSync(folder, { recursive: true }));

const rate = (limits: unknown): Fields => ({
  apiVersion: `eventratelimit.admission.${suffix}/v1alpha1`,
  kind: "Configuration",
  limits,
});
const security = (given: object): Fields => ({
  apiVersion: `pod-security.admission.config.${suffix}/v1`,
  kind: "PodSecurityConfiguration",
  ...given,
});
const taints = (given: object): Fields => ({
  apiVersion: `podtolerationrestriction.admission.${suffix}/v1alpha1`,
  kind: "Configuration",
  ...given,
});
const server = { type: "Server", qps: 1, burst: 1 };

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const configured = (kind: string, given: object): Fields => ({
  apiVersion: `apiserver.config.${suffix}/v1`,
  kind,
  ...given,
});
const image = (given: object): Fields => ({ imagePolicy: { kubeConfigFile: "/x", ...given } });

const refused: [
  name: string,
  parse: (config: Fields | undefined) => unknown,
  config: Fields | undefined,
  why: string,
][] = [
  [
    "a missing list of limits",
    eventLimits(dialect),
    undefined,
    "limits: Invalid value: []eventratelimit.Limit(nil): must not be empty",
  ],
  [
    "a limit of zero",
    eventLimits(dialect),
    rate([{ ...server, burst: 0, qps: 0 }]),
    "[limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: 0: must be positive]",
  ],
  [
    "an unknown type of limit",
    eventLimits(dialect),
    rate([{ ...server, type: "Odd" }]),
    'limits[0].type: Unsupported value: "Odd": supported values: "Server", "Namespace", "User", "SourceAndObject"',
  ],
  [
    "a negative cache size",
    eventLimits(dialect),
    rate([{ ...server, type: "User", cacheSize: -5 }]),
    "limits[0].cacheSize: Invalid value: -5: must not be negative",
  ],
  [
    "another kind",
    eventLimits(dialect),
    { apiVersion: "v1", kind: "Other" },
    'no kind "Other" is registered for version "v1"',
  ],
  ["no kind", eventLimits(dialect), { limits: [] }, `Object 'Kind' is missing in '{"limits":[]}'`],
  [
    "an unknown security level",
    securityDefaults(dialect),
    security({ defaults: { enforce: "odd" } }),
    "PodSecurity configuration error: enforce: must be one of privileged, baseline, restricted",
  ],
  [
    "a policy version without its leading v",
    securityDefaults(dialect),
    security({ defaults: { "enforce-version": "1.27", "warn-version": "x" } }),
    'PodSecurity configuration error: [enforce-version: must be "latest" or "v1.x", warn-version: must be "latest" or "v1.x"]',
  ],
  [
    "an invalid or duplicate exemption",
    securityDefaults(dialect),
    security({ exemptions: { namespaces: ["A_", "a", "a"], runtimeClasses: ["A"], usernames: [""] } }),
    `PodSecurity invalid: [exemptions.namespaces[0]: Invalid value: "A_": ${label}, exemptions.namespaces[2]: Duplicate value: "a", exemptions.runtimeClasses[0]: Invalid value: "A": ${subdomain}, exemptions.usernames[0]: Invalid value: "": username must not be empty]`,
  ],
  [
    "an unknown field in a strictly decoded configuration",
    securityDefaults(dialect),
    security({ foo: 1 }),
    'strict decoding error: unknown field "foo"',
  ],
  [
    "an invalid toleration",
    tolerations(dialect),
    taints({ default: [{ key: "a", operator: "Odd" }], whitelist: [{ operator: "Equal" }] }),
    'invalid config: [podtolerationrestriction.default[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists" podtolerationrestriction.whitelist[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"]',
  ],
  ["a missing image policy", imagePolicy, undefined, "no config specified"],
  [
    "an image policy without a client config",
    imagePolicy,
    { imagePolicy: {} },
    "invalid configuration: no configuration has been provided",
  ],
  ["a negative time", imagePolicy, image({ allowTTL: -5 }), "valid value is between 1s and 30m0s, got -5s"],
  [
    "a time that is too long",
    imagePolicy,
    image({ retryBackoff: 5_000_000_000, allowTTL: -5 }),
    "valid value is between 1ns and 5m0s, got 1388h53m20s",
  ],
  [
    "a limited resource without a name",
    limitedResources(dialect),
    configured("ResourceQuotaConfiguration", { limitedResources: [{}] }),
    "limitedResources[0].resource: Required value",
  ],
  [
    "a relative path of a client config",
    webhookCredentials(dialect),
    configured("WebhookAdmissionConfiguration", { kubeConfigFile: "x" }),
    'kubeConfigFile: Invalid value: "x": must be an absolute file path',
  ],
  [
    "a missing path of a client config",
    webhookCredentials(dialect),
    configured("WebhookAdmissionConfiguration", {}),
    'kubeConfigFile: Invalid value: "": must be an absolute file path',
  ],
];
for (const [name, parse, config, why] of refused)
  test(`${name} is rejected with kube-apiserver's error text`, () =>
    assert.throws(
      () => parse(config),
      (error: Error) => (assert.equal(error.message, why), true),
    ));

test("configurations are parsed into plug-in settings", () => {
  assert.deepEqual(eventLimits(dialect)(rate([server])), [
    { type: "Server", perSecond: 1, burst: 1, maxKeys: 4096 },
  ]);
  assert.deepEqual(
    securityDefaults(dialect)(security({ defaults: { enforce: "baseline", "enforce-version": "v1.25" } }))
      ?.defaults.enforce,
    { level: "baseline", version: 25 },
  );
  assert.equal(
    nodeSelectors({
      podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: "a=b", n: "c=d" },
    }).byNamespace.get("n"),
    "c=d",
  );
  assert.equal(imagePolicy({ imagePolicy: { kubeConfigFile: "/x", denyTTL: -1 } }).denyMilliseconds, 0);
  assert.deepEqual(
    [securityDefaults(dialect)(undefined), limitedResources(dialect)(undefined)],
    [undefined, []],
  );
});

test("configurations are inline or in separate files, and errors name the plug-in", () => {
  const main = join(folder, "admission.yaml");
  const write = (plugins: unknown, head: object = {}): string => {
    writeFileSync(
      main,
      JSON.stringify({
        apiVersion: `apiserver.config.${suffix}/v1`,
        kind: "AdmissionConfiguration",
        plugins,
        ...head,
      }),
    );
    return main;
  };
  writeFileSync(join(folder, "rate.yaml"), JSON.stringify(rate([server])));
  const read = (plugins: unknown, head?: object) => readPluginConfigs(write(plugins, head), dialect);
  assert.equal(
    read([{ name: "EventRateLimit", path: "rate.yaml" }]).read("EventRateLimit", eventLimits(dialect)).length,
    1,
  );
  assert.equal(
    read([{ name: "EventRateLimit", path: "none", configuration: rate([server]) }]).read(
      "EventRateLimit",
      eventLimits(dialect),
    ).length,
    1,
  );
  assert.equal(read([]).read("PodSecurity", securityDefaults(dialect)), undefined);
  assert.throws(() => read([{ name: "EventRateLimit", path: "none.yaml" }]), /none\.yaml/);
  assert.throws(
    () =>
      read([{ name: "EventRateLimit", configuration: rate([]) }]).read(
        "EventRateLimit",
        eventLimits(dialect),
      ),
    /^Error: failed to initialize admission: couldn't init admission plugin "EventRateLimit": limits: /,
  );
  for (const apiVersion of [`apiserver.${suffix}/v1alpha1`, `apiserver.config.${suffix}/v1alpha1`])
    assert.doesNotThrow(() => read([], { apiVersion }));
  assert.throws(() => read([], { apiVersion: `apiserver.${suffix}/v1` }), /no kind "AdmissionConfig/);
  const unread = "failed to initialize admission: failed to read plugin config: ";
  assert.throws(
    () => read([], { kind: "Other" }),
    new Error(`${unread}no kind "Other" is registered for version "apiserver.config.${suffix}/v1"`),
  );
  writeFileSync(main, "");
  assert.throws(() => readPluginConfigs(main, dialect), new Error(`${unread}Object 'Kind' is missing in ''`));
  assert.throws(
    () => readPluginConfigs("/nowhere/at/all", dialect),
    new Error(`${unread}open /nowhere/at/all: no such file or directory`),
  );
  assert.throws(
    () =>
      read([{ name: "PodSecurity", configuration: security({ defaults: { enforce: "odd" } }) }]).read(
        "PodSecurity",
        securityDefaults(dialect),
      ),
    /failed to initialize admission: failed to initialize admission plugin "PodSecurity": PodSecurity conf/,
  );
});
