import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";

test("counters and gauges are shown with help, type, stability and sorted labels", () => {
  const metrics = createMetrics();
  const requests = metrics.counter({
    name: "requests_total",
    help: "Requests.\nAll of them.",
    labels: ["verb", "code"],
    stability: "STABLE",
  });
  requests.with("GET", "200").add();
  requests.with("GET", "200").add(2);
  requests.with("DELETE", "404").add();
  metrics.gauge({ name: "depth", help: "Queue depth." }).with().set(7);
  assert.equal(
    metrics.expose(),
    `# HELP depth Queue depth.
# TYPE depth gauge
depth 7
# HELP requests_total [STABLE] Requests.\\nAll of them.
# TYPE requests_total counter
requests_total{code="200",verb="GET"} 3
requests_total{code="404",verb="DELETE"} 1
`,
  );
});

test("bounds of buckets are printed as by Go", () => {
  const metrics = createMetrics();
  const buckets = [1e-6, 0.0001, 0.5, 100_000, 1_048_576, 1e9];
  metrics.histogram({ name: "n", help: "h", buckets }).with().observe(1);
  assert.deepEqual(
    [...metrics.expose().matchAll(/le="([^"]+)"/g)].map(([, bound]) => bound),
    ["1e-06", "0.0001", "0.5", "100000", "1.048576e+06", "1e+09", "+Inf"],
  );
});

test("a histogram counts each value in every bucket it fits", () => {
  const metrics = createMetrics();
  const seconds = metrics.histogram({ name: "seconds", help: "h", labels: ["verb"], buckets: [0.1, 1] });
  for (const value of [0.05, 0.1, 0.5, 5]) seconds.with("GET").observe(value);
  assert.equal(
    metrics.expose(),
    `# HELP seconds h
# TYPE seconds histogram
seconds_bucket{verb="GET",le="0.1"} 2
seconds_bucket{verb="GET",le="1"} 3
seconds_bucket{verb="GET",le="+Inf"} 4
seconds_sum{verb="GET"} 5.65
seconds_count{verb="GET"} 4
`,
  );
});

test("reset sets series to zero, and existing references keep counting", () => {
  const metrics = createMetrics();
  const name = (type: string) => ({ name: type, help: "h", labels: ["a"] });
  const counted = metrics.counter(name("counted")).with("1");
  const total = metrics.counter({ name: "total", help: "h" }).with();
  const level = metrics.gauge(name("level")).with("1");
  const taken = metrics.histogram({ ...name("taken"), buckets: [1] }).with("1");
  const summed = metrics.summary(name("summed")).with("1");
  const alone = metrics.histogram({ name: "alone", help: "h", buckets: [1] }).with();
  const all = [taken, summed, alone];
  const shown = (): string[] =>
    metrics
      .expose()
      .split("\n")
      .filter((line) => line !== "" && !/^#|bucket|quantile|_sum/.test(line));
  for (const series of [counted, total, level]) series.add(2);
  for (const series of all) series.observe(2);
  metrics.reset();
  assert.deepEqual(shown(), ["alone_count 1", 'level{a="1"} 2', "total 0"]);
  for (const series of [counted, total, level]) series.add();
  for (const series of all) series.observe(1);
  assert.deepEqual(shown(), [
    "alone_count 2",
    'counted{a="1"} 1',
    'level{a="1"} 3',
    'summed_count{a="1"} 1',
    'taken_count{a="1"} 1',
    "total 1",
  ]);
  assert.match(metrics.expose(), /taken_bucket\{a="1",le="1"\} 1\n.*\ntaken_sum\{a="1"\} 1\n/);
});

test("a series of a histogram without a value is shown, and takes no memory for its buckets", () => {
  const metrics = createMetrics();
  const taken = metrics.histogram({ name: "taken", help: "Taken.", labels: ["by"] });
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < 1000; at++) taken.with(String(at));
  assert.ok(process.memoryUsage().arrayBuffers - before < 50_000);
  assert.match(metrics.expose(), /taken_bucket\{by="0",le="10"\} 0\ntaken_bucket\{by="0",le="\+Inf"\} 0\n/);
});

test("label values are escaped", () => {
  const metrics = createMetrics();
  metrics
    .counter({ name: "x", help: "h", labels: ["a"] })
    .with('q"\\\n')
    .add();
  assert.match(metrics.expose(), /x\{a="q\\"\\\\\\n"\} 1/);
});

test("a metric without series is not shown", () => {
  const metrics = createMetrics();
  metrics.counter({ name: "x", help: "h", labels: ["a"] });
  assert.equal(metrics.expose(), "");
});

test("a disabled metric takes values and shows none", () => {
  const metrics = createMetrics({ disabled: ["x"] });
  metrics.counter({ name: "x", help: "h" }).with().add();
  assert.equal(metrics.expose(), "");
});

test("values outside an allow-list become unexpected", () => {
  const metrics = createMetrics({ allowedLabels: { "x,verb": ["GET"] } });
  const x = metrics.counter({ name: "x", help: "h", labels: ["verb"] });
  for (const verb of ["GET", "A", "B"]) x.with(verb).add();
  assert.match(metrics.expose(), /x\{verb="GET"\} 1\nx\{verb="unexpected"\} 2\n/);
});

test("labels are exposed in order of their names, the bound of a bucket last", () => {
  const metrics = createMetrics();
  metrics
    .counter({ name: "x", help: "h", labels: ["verb", "code"] })
    .with("GET", "200")
    .add();
  metrics
    .histogram({ name: "y", help: "h", labels: ["z", "m"], buckets: [1] })
    .with("1", "2")
    .observe(0);
  const exposed = metrics.expose();
  assert.match(exposed, /^x\{code="200",verb="GET"\} 1$/m);
  assert.match(exposed, /^y_bucket\{m="2",z="1",le="1"\} 1$/m);
});

test("new series beyond the limit share one", () => {
  const metrics = createMetrics({ seriesLimit: 2 });
  const x = metrics.counter({ name: "x", help: "h", labels: ["who"] });
  for (const who of ["a", "b", "c", "d", "a"]) x.with(who).add();
  assert.match(metrics.expose(), /x\{who="a"\} 2\nx\{who="b"\} 1\nx\{who="overflow"\} 2\n/);
});

test("a removed series is not exposed, and a cleared family is empty", () => {
  const metrics = createMetrics();
  const x = metrics.gauge({ name: "x", help: "h", labels: ["a", "b"] });
  x.with("1", "2").set(1);
  x.with("1", "3").set(1);
  x.remove("1", "2");
  assert.doesNotMatch(metrics.expose(), /b="2"/);
  x.clear();
  assert.equal(metrics.expose(), "");
});

test("gauges may be set at the scrape", () => {
  const metrics = createMetrics();
  const now = metrics.gauge({ name: "now", help: "h" });
  let value = 0;
  metrics.beforeScrape(() => now.with().set(++value));
  metrics.expose();
  assert.match(metrics.expose(), /now 2\n/);
});

test("a name can be registered only once", () => {
  const metrics = createMetrics();
  metrics.counter({ name: "x", help: "h" });
  assert.throws(() => metrics.gauge({ name: "x", help: "h" }), /declared twice/);
});

test("the same declaration in several places is one metric", () => {
  const metrics = createMetrics();
  const declaration = { name: "x", help: "h" };
  for (const part of [1, 2]) metrics.counter(declaration).with().add(part);
  assert.match(metrics.expose(), /^x 3$/m);
});

test("a deprecated metric is shown in its release, hidden in the next, and then on demand", () => {
  const shown = (release: string, showHiddenFor = ""): string => {
    const metrics = createMetrics({ release, showHiddenFor });
    metrics.counter({ name: "x", help: "h", stability: "ALPHA", deprecatedSince: "1.27.0" }).with();
    return metrics.expose();
  };
  assert.match(shown("1.27"), /# HELP x \[ALPHA\] \(Deprecated since 1\.27\.0\) h\n/);
  assert.equal(shown("1.28"), "");
  assert.match(shown("1.28", "1.27"), /^x 0$/m);
});

test("metrics are counted themselves: declared, hidden and disabled", () => {
  const metrics = createMetrics({ release: "1.28", disabled: ["off"] });
  metrics.countMetrics();
  metrics.counter({ name: "old", help: "h", stability: "BETA", deprecatedSince: "1.27.0" });
  metrics.counter({ name: "off", help: "h" });
  const text = metrics.expose();
  assert.match(text, /^hidden_metric_total 1$/m);
  assert.match(text, /^disabled_metric_total 1$/m);
  assert.match(text, /registered_metric_total\{deprecated_version="1.27.0",stability_level="BETA"\} 1/);
});

test("a summary has quantiles", () => {
  const metrics = createMetrics();
  metrics
    .summary({ name: "s", help: "h", labels: ["a"] })
    .with("1")
    .observe(2);
  assert.match(metrics.expose(), /# TYPE s summary\ns\{a="1",quantile="0.5"\} /);
});
