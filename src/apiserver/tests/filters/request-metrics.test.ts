import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "#base";
import { Span } from "#tracing";
import { apiCall } from "#kit";
import { startServer } from "../../library.ts";
import { requestMetrics } from "#filters";

const labelled = (
  verb: string,
  group: string,
  version: string,
  resource: string,
  subresource: string,
  scope: string,
  dryRun = "",
): string =>
  `component="apiserver",dry_run="${dryRun}",group="${group}",resource="${resource}",scope="${scope}",subresource="${subresource}",verb="${verb}",version="${version}"`;

const pods = { group: "", version: "v1", kind: "Pod", resource: { groupResource: "pods" } };

const cases: [method: string, path: string, labels: string][] = [
  ["GET", "/api/v1/namespaces/a/pods/b", labelled("GET", "", "v1", "pods", "", "resource")],
  ["GET", "/api/v1/namespaces/a/pods", labelled("LIST", "", "v1", "pods", "", "namespace")],
  ["GET", "/api/v1/pods", labelled("LIST", "", "v1", "pods", "", "cluster")],
  ["GET", "/api/v1/pods?watch=1", labelled("WATCH", "", "v1", "pods", "", "cluster")],
  [
    "POST",
    "/apis/apps/v1/namespaces/a/deployments?dryRun=All",
    labelled("POST", "apps", "v1", "deployments", "", "resource", "All"),
  ],
  [
    "PATCH",
    "/apis/apps/v1/namespaces/a/deployments/b/status",
    labelled("PATCH", "apps", "v1", "deployments", "status", "resource"),
  ],
  ["DELETE", "/api/v1/namespaces/a/pods", labelled("DELETECOLLECTION", "", "v1", "pods", "", "namespace")],
  ["POST", "/api/v1/namespaces/a/pods/b/exec", labelled("CONNECT", "", "v1", "pods", "exec", "resource")],
  ["GET", "/healthz/ping", labelled("GET", "", "", "", "/healthz", "")],
  ["GET", "/random/nonsense", labelled("GET", "", "", "", "", "")],
  ["BREW", "/pot", labelled("other", "", "", "", "", "")],
  ["GET", "/apis/nobody/v1/serves", labelled("LIST", "", "", "", "", "")],
];
for (const [method, path, labels] of cases) {
  test(`${method} ${path} is counted under its labels`, () => {
    const metrics = createMetrics();
    const requests = requestMetrics(metrics, "apiserver", ({ target }) => target.group !== "nobody");
    requests.answered(apiCall({ method, path }), 200, 5, true, 0);
    assert.ok(
      metrics.expose().includes(`apiserver_request_total{code="200",${labels}} 1\n`),
      metrics.expose(),
    );
  });
}

test("requests terminated in self-defence are counted by code and component", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  const call = apiCall({ path: "/api/v1/namespaces/a/pods" });
  requests.terminated(call, 429);
  requests.terminated(call, 504);
  requests.terminated(call, 503, "aggregator");
  const counted = [
    ...metrics
      .expose()
      .matchAll(/^apiserver_request_terminations_total\{code="(\d+)",component="(\w+)",.*\} 1$/gm),
  ].map(([, code, component]) => `${component} ${code}`);
  assert.deepEqual(counted, ["apiserver 429", "aggregator 503", "apiserver 504"]);
});

test("aborted responses are counted by request", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  requests.aborted(apiCall({ path: "/api/v1/namespaces/a/pods" }));
  const labels = 'group="",resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"';
  assert.ok(metrics.expose().includes(`apiserver_request_aborts_total{${labels}} 1\n`), metrics.expose());
});

test("requests in flight are counted by whether they are mutating", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  const inFlight = (): string[] =>
    [
      ...metrics.expose().matchAll(/^apiserver_current_inflight_requests\{request_kind="(\w+)"\} (\d+)$/gm),
    ].map(([, kind, count]) => `${kind} ${count}`);
  const [read, write] = [apiCall(), apiCall({ method: "DELETE" })];
  requests.began(read);
  requests.began(write);
  assert.deepEqual(inFlight(), ["mutating 1", "readOnly 1"]);
  requests.answered(read, 200, 1, false, 2500);
  assert.deepEqual(inFlight(), ["mutating 1", "readOnly 0"]);
});

test("open watches and their events are counted", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  const ended = requests.streaming(apiCall({ path: "/api/v1/pods?watch=1" }));
  requests.watchEvents(pods).sent(3, 3000);
  requests.watchEvents(pods).terminated();
  assert.match(metrics.expose(), /apiserver_longrunning_requests\{.*verb="WATCH",.*\} 1\n/);
  assert.match(metrics.expose(), /apiserver_watch_events_total\{group="",kind="Pod",version="v1"\} 3\n/);
  assert.match(metrics.expose(), /apiserver_terminated_watchers_total\{resource="pods"\} 1\n/);
  ended();
  assert.match(metrics.expose(), /apiserver_longrunning_requests\{.*verb="WATCH",.*\} 0\n/);
});

test("events are counted with their sizes, long-running requests with their kind", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  requests.watchEvents(pods).sent(2, 4000);
  requests.queued(apiCall({ method: "POST" }), 1);
  const text = metrics.expose();
  assert.match(text, /watch_events_sizes_bucket\{group="",kind="Pod",version="v1",le="2048"\} 2\n/);
  assert.match(text, /current_inqueue_requests\{request_kind="mutating"\} 1\n/);
});

test("the time of webhooks is excluded from the server's own latency", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  const call = apiCall({ method: "POST", path: "/api/v1/namespaces/a/pods?fieldValidation=Strict" });
  const operation = (call.operation = new Span("Create", {}, { began: 0 }));
  operation.child("Call mutating webhook", {}, { began: 0 }).end(500);
  operation.child("Call validating webhook", {}, { began: 500 }).end(900);
  operation.child("Call validating webhook", {}, { began: 500 }).end(700);
  requests.answered(call, 201, 1000, false, 0);
  const text = metrics.expose();
  assert.match(text, /apiserver_request_duration_seconds_sum\{.*\} 1\n/);
  assert.match(text, /apiserver_request_sli_duration_seconds_sum\{.*\} 0\.1\n/);
  assert.match(text, /field_validation_request_duration_seconds_count\{field_validation="Strict"\} 1\n/);
});

test("requests for a deprecated API are exported with the release that removes it", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  const call = apiCall({ path: "/apis/g/v1beta1/things" });
  call.removedRelease = "1.29";
  requests.answered(call, 200, 1, false, 0);
  assert.match(
    metrics.expose(),
    /requested_deprecated_apis\{group="g",removed_release="1.29",resource="things",subresource="",version="v1beta1"\} 1/,
  );
});

test("unknown paths create no separate series", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => false);
  for (let at = 0; at < 10_000; at++)
    requests.answered(apiCall({ path: `/apis/g${at}/v1/things` }), 404, 1, true, 0);
  assert.equal(metrics.expose().match(/^apiserver_request_total\{/gm)?.length, 1);
});

test("every served subresource has a series, and unknown ones have none", async () => {
  const server = await startServer({ store: "memory" });
  const { resources } = (await (await server.inject({ path: "/api/v1" })).json()) as {
    resources: { name: string; namespaced: boolean }[];
  };
  const parts = [
    ...resources,
    { name: "pods/thought-up", namespaced: true },
    { name: `pods/${"c".repeat(10_000)}`, namespaced: true },
  ].filter(({ name }) => name.includes("/"));
  for (const { name, namespaced } of parts)
    await server.inject({ path: `/api/v1/${namespaced ? "namespaces/a/" : ""}${name.replace("/", "/b/")}` });
  const exposed = await (await server.inject({ path: "/metrics" })).text();
  await server.stop();
  assert.ok(parts.length > 12);
  const found = [
    ...exposed.matchAll(/^apiserver_request_total\{.*,resource="(\w+)",scope="\w*",subresource="([^"/]+)"/gm),
  ].map(([, resource, part]) => `${resource}/${part}`);
  assert.deepEqual(
    [...new Set(found)].toSorted(),
    parts
      .map(({ name }) => name)
      .slice(0, -2)
      .toSorted(),
  );
});

test("disabled metrics are not exported, and label values that are not allowed are replaced", () => {
  const metrics = createMetrics({
    disabled: ["apiserver_request_duration_seconds"],
    allowedLabels: { "apiserver_request_total,resource": ["pods"] },
  });
  const requests = requestMetrics(metrics, "apiserver", () => true);
  requests.answered(apiCall({ path: "/api/v1/secrets" }), 200, 1, true, 0);
  assert.doesNotMatch(metrics.expose(), /apiserver_request_duration_seconds/);
  assert.match(metrics.expose(), /apiserver_request_total\{.*resource="unexpected"/);
});

test("response sizes of reads are counted, and users by the kind of their name", () => {
  const metrics = createMetrics();
  const requests = requestMetrics(metrics, "apiserver", () => true);
  requests.answered(apiCall({ path: "/api/v1/namespaces/a/pods" }), 200, 1, false, 2500);
  requests.answered(apiCall({ method: "DELETE", path: "/api/v1/namespaces/a/pods/b" }), 200, 1, false, 9);
  for (const name of ["admin", "jane@example.com", "system:serviceaccount:a:b"]) requests.authenticated(name);
  const text = metrics.expose();
  assert.match(text, /apiserver_response_sizes_bucket\{.*verb="LIST",.*le="1000"\} 0\n/);
  assert.match(text, /apiserver_response_sizes_bucket\{.*verb="LIST",.*le="10000"\} 1\n/);
  assert.doesNotMatch(text, /apiserver_response_sizes_bucket\{.*verb="DELETE"/);
  for (const kind of ["admin", "email_id", "other"])
    assert.ok(text.includes(`authenticated_user_requests{username="${kind}"} 1\n`), kind);
});
