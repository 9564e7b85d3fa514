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

const refused: [
  name: string,
  parse: (config: Fields | undefined) => unknown,
  config: Fields | undefined,
  field: RegExp,
][] = [
  ["limits without a configuration", eventLimits(dialect), undefined, /needs a configuration/],
  ["no limits", eventLimits(dialect), rate([]), /limits: Invalid value: "null": must not be empty$/],
  [
    "several mistakes in limits",
    eventLimits(dialect),
    rate([
      { type: "Server", qps: 0, burst: -1, cacheSize: -1 },
      { type: "User", qps: 1, burst: 1, cacheSize: -2 },
    ]),
    /limits\[0\]\.burst: .*limits\[0\]\.qps: .*limits\[1\]\.cacheSize: Invalid value: -2: must not be negative/,
  ],
  [
    "several mistakes in exemptions",
    securityDefaults(dialect),
    security({ exemptions: { usernames: ["", "a", "a"], namespaces: ["Bad_"] } }),
    /exemptions\.usernames\[0\]: Invalid .*exemptions\.usernames\[2\]: Duplicate value: "a".*exemptions\.namespaces\[0\]: /,
  ],
  [
    "tolerations that no pod could have",
    tolerations(dialect),
    taints({ default: [{ key: "a", operator: "Odd" }], whitelist: [{ operator: "Equal" }] }),
    /podtolerationrestriction\.default\[0\]\.operator: .*podtolerationrestriction\.whitelist\[0\]\.operator: /,
  ],
  ["a rate of nothing", eventLimits(dialect), rate([{ ...server, qps: 0 }]), /limits\[0\]\.qps/],
  ["a burst of nothing", eventLimits(dialect), rate([{ ...server, burst: 0 }]), /limits\[0\]\.burst/],
  ["an unknown type of limit", eventLimits(dialect), rate([{ ...server, type: "Odd" }]), /limits\[0\]\.type/],
  ["another kind", eventLimits(dialect), { ...rate([server]), kind: "Other" }, /expected/],
  [
    "a version of a standard without its v",
    securityDefaults(dialect),
    security({ defaults: { "enforce-version": "1.27" } }),
    /enforce-version/,
  ],
  [
    "an unknown standard",
    securityDefaults(dialect),
    security({ defaults: { warn: "odd" } }),
    /defaults\.warn/,
  ],
  [
    "an exempt namespace that is no name",
    securityDefaults(dialect),
    security({ exemptions: { namespaces: ["Not_A"] } }),
    /namespaces\[0\]/,
  ],
  [
    "a user exempted twice",
    securityDefaults(dialect),
    security({ exemptions: { usernames: ["a", "a"] } }),
    /usernames\[1\]/,
  ],
  [
    "an exempt class that is no name",
    securityDefaults(dialect),
    security({ exemptions: { runtimeClasses: ["A B"] } }),
    /runtimeClasses\[0\]/,
  ],
  [
    "an unknown operator",
    tolerations(dialect),
    taints({ default: [{ operator: "Maybe" }] }),
    /default\[0\]\.operator/,
  ],
  ["an image policy without its file", imagePolicy, {}, /kubeConfigFile/],
  ["a time below nothing", imagePolicy, { imagePolicy: { kubeConfigFile: "/x", allowTTL: -5 } }, /allowTTL/],
  [
    "a limited resource without a name",
    limitedResources(dialect),
    {
      apiVersion: `apiserver.config.${suffix}/v1`,
      kind: "ResourceQuotaConfiguration",
      limitedResources: [{}],
    },
    /limitedResources\[0\]\.resource/,
  ],
  [
    "a relative file of credentials",
    webhookCredentials(dialect),
    {
      apiVersion: `apiserver.config.${suffix}/v1`,
      kind: "WebhookAdmissionConfiguration",
      kubeConfigFile: "x",
    },
    /kubeConfigFile/,
  ],
];
for (const [name, parse, config, field] of refused)
  test(`${name} is refused by name`, () => assert.throws(() => parse(config), field));

test("a configuration says what it says", () => {
  assert.deepEqual(eventLimits(dialect)(rate([server])), [
    { type: "Server", perSecond: 1, burst: 1, mostKeys: 4096 },
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

test("configurations stand in the file or beside it, and complaints name both file and plug-in", () => {
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
    /admission\.yaml: EventRateLimit: limits/,
  );
  for (const apiVersion of [`apiserver.${suffix}/v1alpha1`, `apiserver.config.${suffix}/v1alpha1`])
    assert.doesNotThrow(() => read([], { apiVersion }));
  assert.throws(() => read([], { apiVersion: `apiserver.${suffix}/v1` }), /AdmissionConfiguration/);
  assert.throws(() => read([], { kind: "Other" }), /AdmissionConfiguration/);
  writeFileSync(main, "");
  assert.throws(() => readPluginConfigs(main, dialect), /empty/);
});
