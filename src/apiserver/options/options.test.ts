import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects, groupName } from "#dialect";
import { helpText, settle } from "#options";
import { allowsAnonymous } from "../authentication/anonymous.ts";
import { apiserverOptions } from "./options.ts";

const base = [
  "--store-servers=http://127.0.0.1:1",
  "--service-account-issuer=https://x",
  "--service-account-signing-key-file=k",
  "--service-account-key-file=k",
  "--service-cluster-ip-range=10.0.0.0/24",
  "--authorization-mode=RBAC",
];
const absent = (path: string): boolean => !path.includes("absent");
function run(argv: readonly string[], { dialect = dialects.orch, without = [] as readonly string[] } = {}) {
  const kept = base.filter((argument) => !without.includes(argument.split("=")[0]!));
  return settle(apiserverOptions(dialect), [...kept, ...argv], { readable: absent });
}

test("the base of all cases is accepted", () => assert.deepEqual(run([]).errors, []));

/** Each is rejected with an error that names these flags. */
const refused: [argv: string[], blamed: string[], without?: string[]][] = [
  [
    [],
    ["--service-account-issuer", "--service-account-signing-key-file", "--api-audiences"],
    ["--service-account-issuer"],
  ],
  [
    [],
    ["--service-account-issuer", "--service-account-signing-key-file", "--api-audiences"],
    ["--service-account-signing-key-file"],
  ],
  [[], ["--service-account-key-file"], ["--service-account-key-file"]],
  [[], ["--store-servers", "--data-dir"], ["--store-servers"]],
  [["--no-such-flag=1"], ["--no-such-flag"]],
  [["extra"], ["extra"]],
  [["--secure-port=0"], ["--secure-port"]],
  [["--secure-port=70000"], ["--secure-port"]],
  [["--secure-port=x"], ["--secure-port"]],
  [["--bind-address=nope"], ["--bind-address"]],
  [["--advertise-address=nope"], ["--advertise-address"]],
  [["--tls-min-version=VersionTLS09"], ["--tls-min-version", "VersionTLS13"]],
  [["--tls-cipher-suites=NOPE"], ["--tls-cipher-suites"]],
  [
    ["--tls-cert-file=absent.crt", "--tls-private-key-file=absent.key"],
    ["--tls-cert-file", "--tls-private-key-file"],
  ],
  [["--tls-cert-file=server.crt"], ["--tls-cert-file", "--tls-private-key-file"]],
  [["--tls-sni-cert-key=only-one"], ["--tls-sni-cert-key"]],
  [["--tls-sni-cert-key=a,b:bad name"], ["--tls-sni-cert-key"]],
  [["--storage-media-type=application/xml"], ["--storage-media-type"]],
  [["--storage-backend=files"], ["--storage-backend"]],
  [["--watch-cache-sizes=pods"], ["--watch-cache-sizes"]],
  [["--watch-cache-sizes=pods#-1"], ["--watch-cache-sizes"]],
  [["--store-servers-overrides=pods"], ["--store-servers-overrides"]],
  [["--store-servers-overrides=/pods#"], ["--store-servers-overrides"]],
  [["--store-servers=nothing"], ["--store-servers"]],
  [["--store-servers=memory://"], ["--store-servers"]],
  [["--enable-admission-plugins=Nope"], ["--enable-admission-plugins"]],
  [["--disable-admission-plugins=Nope"], ["--disable-admission-plugins"]],
  [
    ["--enable-admission-plugins=PodSecurity", "--disable-admission-plugins=PodSecurity"],
    ["--enable-admission-plugins", "--disable-admission-plugins"],
  ],
  [["--admission-control=Odd"], ["--admission-control", "Odd"]],
  [
    ["--admission-control=AlwaysAdmit", "--enable-admission-plugins=AlwaysDeny"],
    ["--admission-control", "--enable-admission-plugins"],
  ],
  [["--enable-admission-plugins=SecurityContextDeny"], ["--enable-admission-plugins", "--feature-gates"]],
  [["--admission-control-config-file=absent"], ["--admission-control-config-file"]],
  [["--authorization-mode=Magic"], ["--authorization-mode"], ["--authorization-mode"]],
  [["--authorization-mode="], ["--authorization-mode"], ["--authorization-mode"]],
  [["--authorization-mode=RBAC,RBAC"], ["--authorization-mode"], ["--authorization-mode"]],
  [
    ["--authorization-mode=ABAC"],
    ["--authorization-mode", "--authorization-policy-file"],
    ["--authorization-mode"],
  ],
  [["--authorization-policy-file=x"], ["--authorization-policy-file"]],
  [
    ["--authorization-mode=Webhook"],
    ["--authorization-mode", "--authorization-webhook-config-file"],
    ["--authorization-mode"],
  ],
  [["--authorization-webhook-config-file=x"], ["--authorization-webhook-config-file"]],
  [["--oidc-issuer-url=https://x.example"], ["--oidc-client-id", "--oidc-issuer-url"]],
  [["--oidc-client-id=x"], ["--oidc-client-id", "--oidc-issuer-url"]],
  [["--oidc-issuer-url=http://x.example", "--oidc-client-id=x"], ["--oidc-issuer-url"]],
  [["--oidc-signing-algs=HS256"], ["--oidc-signing-algs"]],
  [
    ["--authentication-config=f", "--oidc-username-claim=sub"],
    ["--authentication-config", "--oidc-username-claim", "mutually exclusive"],
  ],
  [["--authentication-config=absent"], ["--authentication-config"]],
  [["--authorization-config=f"], ["--authorization-config", "--authorization-mode"]],
  [
    ["--authorization-config=f", "--authorization-webhook-version=v1"],
    ["--authorization-config", "--authorization-webhook-version"],
    ["--authorization-mode"],
  ],
  [["--token-auth-file=absent.csv"], ["--token-auth-file"]],
  [["--client-ca-file=absent.crt"], ["--client-ca-file"]],
  [["--anonymous-auth=perhaps"], ["--anonymous-auth"]],
  [["--service-account-issuer=https://a b:c"], ["--service-account-issuer"]],
  [["--service-account-issuer="], ["--service-account-issuer"]],
  [["--service-account-issuer=https://x"], ["--service-account-issuer"]],
  [["--service-account-max-token-expiration=5m"], ["--service-account-max-token-expiration"]],
  [["--service-account-max-token-expiration=2000000h"], ["--service-account-max-token-expiration"]],
  [["--service-account-jwks-uri=http://x.example/jwks"], ["--service-account-jwks-uri"]],
  [["--service-cluster-ip-range=10.0.0.0/33"], ["--service-cluster-ip-range"]],
  [["--service-cluster-ip-range=10.0.0.0/8"], ["--service-cluster-ip-range", "too large"]],
  [
    ["--service-cluster-ip-range=10.0.0.0/24,fd00::/112,10.1.0.0/24"],
    ["--service-cluster-ip-range"],
    ["--service-cluster-ip-range"],
  ],
  [
    ["--service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24"],
    ["--service-cluster-ip-range"],
    ["--service-cluster-ip-range"],
  ],
  [
    ["--service-cluster-ip-range=10.0.0.0/31"],
    ["--service-cluster-ip-range"],
    ["--service-cluster-ip-range"],
  ],
  [["--service-node-port-range=50-40"], ["--service-node-port-range"]],
  [["--service-node-port-range=abc"], ["--service-node-port-range"]],
  [["--orch-service-node-port=80"], ["--orch-service-node-port", "--service-node-port-range"]],
  [["--orch-service-node-port=-1"], ["--orch-service-node-port"]],
  [["--endpoint-reconciler-type=magic"], ["--endpoint-reconciler-type"]],
  [["--apiserver-count=0"], ["--apiserver-count"]],
  [["--event-ttl=forever"], ["--event-ttl"]],
  [["--event-ttl=-1h"], ["--event-ttl"]],
  [["--max-requests-inflight=-1"], ["--max-requests-inflight"]],
  [["--max-mutating-requests-inflight=-1"], ["--max-mutating-requests-inflight"]],
  [
    ["--max-requests-inflight=0", "--max-mutating-requests-inflight=0"],
    ["--max-requests-inflight", "--max-mutating-requests-inflight"],
  ],
  [["--request-timeout=-5s"], ["--request-timeout"]],
  [["--min-request-timeout=-5"], ["--min-request-timeout"]],
  [["--goaway-chance=0.5"], ["--goaway-chance"]],
  [["--goaway-chance=-0.1"], ["--goaway-chance"]],
  [["--livez-grace-period=-5s"], ["--livez-grace-period"]],
  [["--shutdown-delay-duration=-5s"], ["--shutdown-delay-duration"]],
  [["--strict-transport-security-directives=nope=1"], ["--strict-transport-security-directives"]],
  [["--cors-allowed-origins=["], ["--cors-allowed-origins"]],
  [["--http2-max-streams-per-connection=-1"], ["--http2-max-streams-per-connection"]],
  [["--audit-log-mode=sometimes"], ["--audit-log-mode"]],
  [["--audit-log-format=xml"], ["--audit-log-format"]],
  [
    [`--audit-log-version=${groupName(dialects.orch, { group: "audit", branded: true })}/v9`],
    ["--audit-log-version"],
  ],
  [["--audit-log-maxage=-1"], ["--audit-log-maxage"]],
  [
    ["--audit-log-path=a.log", "--audit-log-mode=batch", "--audit-log-batch-buffer-size=0"],
    ["--audit-log-batch-buffer-size"],
  ],
  [
    ["--audit-log-path=a.log", "--audit-log-mode=batch", "--audit-log-batch-max-size=0"],
    ["--audit-log-batch-max-size"],
  ],
  [
    [
      "--audit-log-path=a.log",
      "--audit-log-truncate-enabled",
      "--audit-log-truncate-max-batch-size=10",
      "--audit-log-truncate-max-event-size=20",
    ],
    ["--audit-log-truncate-max-batch-size"],
  ],
  [
    ["--audit-webhook-config-file=x", "--audit-webhook-batch-throttle-burst=0"],
    ["--audit-webhook-batch-throttle-burst"],
  ],
  [["--feature-gates=NoSuchThing=true"], ["--feature-gates", "NoSuchThing"]],
  [["--feature-gates=APIPriorityAndFairness=maybe"], ["--feature-gates"]],
  [["--feature-gates=APIPriorityAndFairness"], ["--feature-gates"]],
  [["--feature-gates=ServerSideApply=false"], ["--feature-gates", "locked"]],
  [["--runtime-config=nope.example.com/v1=true"], ["--runtime-config"]],
  [["--runtime-config=apps/v1=maybe"], ["--runtime-config"]],
  [["--runtime-config=apps/v7=true"], ["--runtime-config"]],
  [["--runtime-config=api/v2=true"], ["--runtime-config"]],
  [["--runtime-config=api/all=1"], ["--runtime-config"]],
  [["--runtime-config=api/all"], ["--runtime-config"]],
  [["--runtime-config=api/all=false"], ["--runtime-config"]],
  [["--runtime-config=api/all=false,apps/v1=true"], ["--runtime-config", "--enable-priority-and-fairness"]],
  [["--runtime-config=api/all=true,api/beta=false"], ["--runtime-config", "--enable-priority-and-fairness"]],
  [["--runtime-config=apps/v1=tRue"], ["--runtime-config"]],
  [["--runtime-config=apps/v1/Deployments"], ["--runtime-config"]],
  [["--show-hidden-metrics-for-version=1.0"], ["--show-hidden-metrics-for-version", "1.26"]],
  [["--allow-metric-labels=bad"], ["--allow-metric-labels"]],
  [["--allow-metric-labels="], ["--allow-metric-labels"]],
  [["--requestheader-allowed-names=a,,b"], ["--requestheader-allowed-names"]],
  [["--logging-format=json"], ["--logging-format"]],
  [["--vmodule=bad"], ["--vmodule"]],
  [["--v=x"], ["--v"]],
  [
    ["--encryption-provider-config-automatic-reload=true"],
    ["--encryption-provider-config", "--encryption-provider-config-automatic-reload"],
  ],
  [["--authentication-token-webhook-version=v9"], ["--authentication-token-webhook-version"]],
  [["--cloud-config=x"], ["--cloud-config"]],
  [["--vendor-container-registry-config=x"], ["--vendor-container-registry-config"]],
  [["--dialect=klingon"], ["--dialect", Object.keys(dialects).join(" or ")]],
];
for (const [argv, blamed, without] of refused) {
  test(`[${[...argv, ...(without ?? []).map((flag) => `without ${flag}`)].join(" ")}] is rejected with an error that names the flag`, () => {
    const { errors } = run(argv, without && { without });
    assert.notEqual(errors.length, 0);
    for (const flag of blamed)
      assert.ok(
        errors.some((line) => line.includes(flag)),
        `${flag} in ${errors.join("\n")}`,
      );
  });
}

test("objects are stored in one of three encodings, protobuf by default", () => {
  const binary = dialects.orch.wire.protobufMediaType;
  assert.equal(
    run(["--store-servers=http://127.0.0.1:2379"], { without: ["--store-servers"] }).values.storageMediaType,
    binary,
  );
  for (const media of ["application/json", binary, ""]) {
    const { errors, values } = run([`--storage-media-type=${media}`]);
    assert.deepEqual([errors, values.storageMediaType], [[], media]);
  }
  assert.match(run(["--storage-media-type=application/yaml"]).errors.join(), /cannot be used/);
  assert.match(run(["--storage-media-type=application/xml"]).errors.join(), /must be/);
});

test("the size of watch caches is accepted as by kube-apiserver: deprecated, and without effect", () => {
  const { errors, warnings } = run(["--default-watch-cache-size=50"]);
  assert.deepEqual(errors, []);
  assert.match(
    warnings.join(),
    /--default-watch-cache-size has been deprecated, watch caches are sized auto/,
  );
  assert.match(
    run(["--default-watch-cache-size=x"]).errors.join(),
    /strconv\.ParseInt: parsing "x": invalid syntax/,
  );
});

test("the embedded store holds JSON by default", () => {
  const { values, provenance } = run(["--data-dir=/data"], { without: ["--store-servers"] });
  assert.equal(values.storageMediaType, "application/json");
  assert.deepEqual(provenance.storageMediaType, { from: "derived", of: "the embedded store" });
});

test("a collection is deleted by one worker by default, and by at least one", () => {
  assert.equal(run([]).values.deleteCollectionWorkers, 1);
  assert.equal(run(["--delete-collection-workers=4"]).values.deleteCollectionWorkers, 4);
  assert.notEqual(run(["--delete-collection-workers=0"]).errors.length, 0);
});

const accepted: [argv: string[], without?: string[]][] = [
  [["--event-ttl=0"]],
  [["--api-audiences="]],
  [["--cloud-provider=external"]],
  [["--runtime-config=api/all=true,apps/v1=false,v1/events"]],
  [["--runtime-config=api/v1"]],
  [["--runtime-config=api/legacy=true"]],
  [["--runtime-config=api/all=false,api/beta=true"]],
  [["--runtime-config=api/beta=false", "--enable-priority-and-fairness=false"]],
  [["--runtime-config=/v1=true,apps/v1beta1=true"]],
  [[`--runtime-config=${groupName(dialects.orch, { group: "events", branded: true })}/v1=True`]],
  [["--feature-gates=AllAlpha=TRUE,NodeAgentTracing=False"]],
  [["--service-cluster-ip-range=10.0.0.0/24,fd00::/112"], ["--service-cluster-ip-range"]],
  [["--goaway-chance=0.02"]],
  [["--max-requests-inflight=0"]],
  [["--tls-sni-cert-key=a.crt,a.key:*.example.com,10.0.0.1", "--tls-sni-cert-key=b.crt,b.key"]],
  [["--strict-transport-security-directives=max-age=31536000,includeSubDomains,preload"]],
  [["--max_requests_inflight=5"]],
  [["--authentication-config=f", "--anonymous-auth=true"]],
  [["--authorization-config=f"], ["--authorization-mode"]],
  [["--store-servers=memory://"], ["--store-servers"]],
];
for (const [argv, without] of accepted) {
  test(`[${argv.join(" ")}] is accepted`, () =>
    assert.deepEqual(run(argv, without && { without }).errors, []));
}

const anonymous: [argv: string[], allowed: boolean, warned: boolean][] = [
  [[], false, true],
  [["--authorization-mode=RBAC"], true, false],
  [["--authorization-mode=RBAC,AlwaysAllow"], false, true],
  [["--anonymous-auth=false"], false, false],
  [["--authorization-mode=Node,RBAC", "--anonymous-auth=false"], false, false],
];
for (const [argv, allowed, warned] of anonymous) {
  test(`[${argv.join(" ")}] ${allowed ? "accepts" : "rejects"} anonymous requests`, () => {
    const { values, warnings } = run(argv, { without: ["--authorization-mode"] });
    assert.equal(allowsAnonymous(values.anonymousAuth, values.authorizationMode), allowed);
    assert.equal(
      warnings.some((line) => /--anonymous-auth.*AlwaysAllow/.test(line)),
      warned,
    );
  });
}

test("original spellings are aliases in their own dialect only", () => {
  const original = dialects.kubernetes.spelling.flag;
  const argv = [
    `--${original("store-prefix")}=/x`,
    `--${original("nodeagent-timeout")}=7s`,
    `--${original("orch-service-node-port")}=30001`,
  ];
  const { errors, values } = run(argv, { dialect: dialects.kubernetes });
  assert.deepEqual(
    errors.filter((line) => !line.includes("cannot be used")),
    [],
  );
  assert.deepEqual(
    [values.storePrefix, values.nodeagentTimeout, values.orchServiceNodePort],
    ["/x", 7000, 30001],
  );
  assert.equal(run(argv).errors.length, 3);
});

const unavailable = apiserverOptions(dialects.orch).sections.flatMap(({ options }) =>
  options.filter((option) => option.unavailable !== undefined),
);

test("unsupported flags are listed with the reason", () => {
  const help = helpText(apiserverOptions(dialects.orch), { width: 10_000 });
  for (const option of unavailable) {
    assert.match(help, new RegExp(`--${option.flag}\\b.*\\n.*Not available: ${option.unavailable}\\.`));
  }
});

const partlyBuilt = [
  "--enable-admission-plugins=AlwaysAdmit,PersistentVolumeLabel",
  "--storage-media-type=application/yaml",
];
for (const flag of partlyBuilt) {
  test(`${flag} is refused, not ignored`, () => {
    const { errors } = run([flag], { without: [flag.slice(0, flag.indexOf("="))] });
    assert.ok(
      errors.some((line) => line.startsWith(flag) && line.includes("cannot be used")),
      errors.join("\n"),
    );
  });
}

test("webhooks, identity providers and audit have the documented defaults", () => {
  const defaults = {
    authenticationTokenWebhookVersion: "v1beta1",
    authenticationTokenWebhookCacheTtl: 120_000,
    oidcUsernameClaim: "sub",
    authorizationWebhookVersion: "v1beta1",
    authorizationWebhookCacheAuthorizedTtl: 300_000,
    authorizationWebhookCacheUnauthorizedTtl: 30_000,
    auditLogMode: "blocking",
    auditWebhookMode: "batch",
    auditLogBatchMaxSize: 1,
    auditWebhookBatchMaxSize: 400,
    auditLogBatchBufferSize: 10_000,
    auditWebhookBatchBufferSize: 10_000,
    auditWebhookBatchMaxWait: 30_000,
    auditWebhookBatchThrottleQps: 10,
    auditWebhookBatchThrottleBurst: 15,
    auditLogTruncateEnabled: false,
    auditLogTruncateMaxEventSize: 102_400,
    auditLogTruncateMaxBatchSize: 10_485_760,
    auditWebhookTruncateEnabled: false,
    auditWebhookTruncateMaxEventSize: 102_400,
    auditWebhookTruncateMaxBatchSize: 10_485_760,
    auditWebhookInitialBackoff: 10_000,
  } as const;
  const { values } = run([]);
  for (const [name, value] of Object.entries(defaults))
    assert.equal(values[name as keyof typeof defaults], value, name);
});

test("defaults follow the dialect", () => {
  for (const dialect of Object.values(dialects)) {
    const { values } = run([], { dialect });
    assert.equal(values.storageMediaType, dialect.wire.protobufMediaType);
    assert.equal(values.certDir, dialect.paths.servingCertificates);
    assert.equal(values.auditLogVersion, `${groupName(dialect, { group: "audit", branded: true })}/v1`);
  }
});

test("audiences default to the issuer", () => {
  assert.deepEqual(run([]).values.apiAudiences, ["https://x"]);
  assert.deepEqual(run([]).provenance.apiAudiences, { from: "derived", of: "--service-account-issuer" });
  assert.deepEqual(run(["--api-audiences=a,b"]).values.apiAudiences, ["a", "b"]);
});

test("values are typed", () => {
  const { values } = run([
    "--tls-sni-cert-key=a.crt,a.key:x.example",
    "--allow-metric-labels=m,l=a,b",
    "--watch-cache-sizes=pods#0,deployments.apps#5",
    "--vmodule=server*=4",
    "-v",
    "3",
  ]);
  assert.deepEqual(values.tlsSniCertKey, [{ certFile: "a.crt", keyFile: "a.key", names: ["x.example"] }]);
  assert.deepEqual(values.allowMetricLabels, { "m,l": ["a", "b"] });
  assert.deepEqual(values.watchCacheSizes, [
    { resource: "pods", group: "", size: 0 },
    { resource: "deployments", group: "apps", size: 5 },
  ]);
  assert.deepEqual(values.vmodule, [{ pattern: "server*", level: 4 }]);
  assert.equal(values.v, 3);
  assert.equal(values.eventTtl, 3_600_000);
});

test("the embedded store is used if its directory is given", () => {
  assert.deepEqual(run(["--data-dir=/d"], { without: ["--store-servers"] }).errors, []);
});

test("tokens are verified with the key of the serving certificate if no other key is given", () => {
  const without = [
    "--service-account-key-file",
    "--service-account-signing-key-file",
    "--service-account-issuer",
  ];
  const own = ["--tls-cert-file=t.crt", "--tls-private-key-file=t.key"];
  assert.deepEqual(run(own, { without }).values.serviceAccountKeyFile, ["t.key"]);
  assert.deepEqual(
    run([...own, "--service-account-key-file=s.key"], { without }).values.serviceAccountKeyFile,
    ["s.key"],
  );
});

test("the deprecated endpoint reconciler type is accepted with a warning", () => {
  const settled = run(["--endpoint-reconciler-type=master-count"]);
  assert.deepEqual(settled.errors, []);
  assert.ok(settled.warnings.some((line) => line.includes("master-count is deprecated")));
});

test("settings of a JSON log are accepted with their feature gate, with a warning that they have no effect", () => {
  const flags = ["--log-json-split-stream", "--log-json-info-buffer-size=1K"];
  const { errors } = settle(apiserverOptions(dialects.orch), flags, { purpose: "check" });
  for (const flag of ["--log-json-split-stream", "--log-json-info-buffer-size"])
    assert.ok(
      errors.some((line) => line.startsWith(flag) && line.includes("LoggingAlphaOptions")),
      flag,
    );
  const gated = settle(
    apiserverOptions(dialects.orch),
    [...flags, "--feature-gates=LoggingAlphaOptions=true"],
    { purpose: "check" },
  );
  assert.deepEqual(gated.errors, []);
  assert.equal(gated.warnings.filter((line) => line.includes("has no effect: the log is text")).length, 2);
});
