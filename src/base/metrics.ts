// Metrics: counters, gauges and histograms with labels, in an explicit registry. Bind a series once
// (`requests.with("GET", "pods")`): updating it is then a field assignment.

import { type Histogram, bucketsOf, histogramSeries } from "./histogram.ts";
import { type Summary, summarySeries } from "./summary.ts";

export type Stability = "ALPHA" | "BETA" | "STABLE";
export type MetricType = "counter" | "gauge" | "histogram" | "summary";

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly stability?: Stability;
  /** The release, such as 1.27.0, that deprecated the metric; the next minor release hides it. */
  readonly deprecatedSince?: string;
}
export interface HistogramOptions extends MetricOptions {
  readonly buckets?: readonly number[];
}

export interface Counter extends Countable {
  value: number;
  add(amount?: number): void;
}
export interface Gauge extends Counter {
  set(value: number): void;
}

/** A series that can be reset. */
interface Countable {
  readonly isUnused: boolean;
  /** Starts counting at zero; existing references to the series stay valid. */
  reset(): void;
}

/** All series of one metric name. Label values are passed in the order of the declared labels. */
export interface Family<S> {
  with(...values: readonly string[]): S;
  remove(...values: readonly string[]): void;
  clear(): void;
}

export interface MetricsOptions {
  /** Names of metrics that are not exposed. */
  readonly disabled?: readonly string[];
  /** `metric,label` → the values to keep; any other becomes "unexpected". */
  readonly allowedLabels?: Readonly<Record<string, readonly string[]>>;
  /**
   * Maximum number of series of one metric; further ones share a series whose label values are "overflow".
   */
  readonly seriesLimit?: number;
  /** The release of the program: metrics deprecated in earlier minor releases are hidden. */
  readonly release?: string;
  /** Exposes the metrics hidden since this minor release, such as 1.26. */
  readonly showHiddenFor?: string;
}

/** Metrics may be declared in several places by the same options object, which then share one family. */
export interface Metrics {
  counter(options: MetricOptions): Family<Counter>;
  gauge(options: MetricOptions): Family<Gauge>;
  histogram(options: HistogramOptions): Family<Histogram>;
  /** Quantiles over the last five hours. */
  summary(options: MetricOptions): Family<Summary>;
  /**
   * Registers a function called at each scrape, for gauges that are cheaper to compute on demand than to
   * maintain.
   */
  beforeScrape(run: () => void): void;
  /** Also exposes the counts of registered, hidden and disabled metrics. */
  countMetrics(): void;
  /**
   * Resets counters: series with labels are not exposed until they count again. Gauges, which show a current
   * state, and histograms and summaries without labels are kept.
   */
  reset(): void;
  /** Returns all metrics in the text exposition format, sorted by name. */
  expose(): string;
}

interface ExposedMetric {
  reset(): void;
  readonly name: string;
  readonly head: string;
  lines(): string;
}

/** In seconds, from 5 ms to 10 s. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const shown = new Map<string, ExposedMetric>();
  const declared = new Map<MetricOptions, Family<never>>();
  const hooks: (() => void)[] = [];
  const disabled = new Set(options.disabled);
  const seriesLimit = options.seriesLimit ?? 20_000;
  const registryCounts = metricCounters();

  function family<S extends Countable>(
    type: MetricType,
    metric: MetricOptions,
    make: (labels: string) => S,
    show: (series: S, labels: string) => string,
  ): Family<S> {
    const known = declared.get(metric) as Family<S> | undefined;
    if (known) return known;
    const { name, labels = [] } = metric;
    if (shown.has(name)) throw new Error(`metric ${name} is declared twice`);
    const allowed = labels.map((label) => options.allowedLabels?.[`${name},${label}`]);
    const tree = new LabelTree<S>(labels, seriesLimit, allowed, make);
    declared.set(metric, tree as unknown as Family<never>);
    registryCounts.registered(metric);
    if (disabled.has(name)) registryCounts.disabled++;
    else if (isHidden(metric, options)) registryCounts.hidden++;
    else {
      shown.set(name, {
        name,
        head: `# HELP ${name} ${escapeHelp(helpOf(metric))}\n# TYPE ${name} ${type}\n`,
        lines: () => tree.entries().reduce((text, [text_, series]) => text + show(series, text_), ""),
        reset: () => {
          if (type !== "gauge" && (type === "counter" || labels.length > 0)) tree.reset();
        },
      });
    }
    return tree;
  }

  const made: Metrics = {
    counter: (metric) =>
      family<Counter>(
        "counter",
        metric,
        counterSeries,
        (series, labels) => `${metric.name}${braced(labels)} ${series.value}\n`,
      ),
    gauge: (metric) =>
      family<Gauge>(
        "gauge",
        metric,
        gaugeSeries,
        (series, labels) => `${metric.name}${braced(labels)} ${numberText(series.value)}\n`,
      ),
    histogram: (metric) => {
      const buckets = bucketsOf(metric.buckets ?? defaultBuckets);
      return family<Histogram>(
        "histogram",
        metric,
        () => histogramSeries(buckets),
        (series, labels) => series.expose(metric.name, labels),
      );
    },
    summary: (metric) =>
      family<Summary>(
        "summary",
        metric,
        () => summarySeries(),
        (series, labels) => series.expose(metric.name, labels),
      ),
    beforeScrape: (run) => void hooks.push(run),
    countMetrics: () => {
      const counter = (name: string, help: string, labels: readonly string[] = []): Family<Counter> =>
        made.counter({ name, help, labels, stability: "ALPHA" });
      const disabledTotal = counter(
        "disabled_metric_total",
        "Number of registered metrics that are disabled.",
      );
      const hiddenTotal = counter("hidden_metric_total", "Number of registered metrics that are hidden.");
      const registeredTotal = counter(
        "registered_metric_total",
        "Number of registered metrics, by stability level and deprecation version.",
        ["stability_level", "deprecated_version"],
      );
      made.beforeScrape(() => {
        disabledTotal.with().value = registryCounts.disabled;
        hiddenTotal.with().value = registryCounts.hidden;
        for (const [key, count] of registryCounts.kinds) {
          const [stability, version] = key.split(" ");
          registeredTotal.with(stability!, version!).value = count;
        }
      });
    },
    reset: () => {
      for (const metric of shown.values()) metric.reset();
    },
    expose: () => {
      for (const hook of hooks) hook();
      let text = "";
      for (const metric of [...shown.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        const lines = metric.lines();
        if (lines) text += metric.head + lines;
      }
      return text;
    },
  };
  return made;
}

function helpOf({ stability, deprecatedSince, help }: MetricOptions): string {
  const deprecated = deprecatedSince === undefined ? "" : `(Deprecated since ${deprecatedSince}) `;
  return `${stability ? `[${stability}] ` : ""}${deprecated}${help}`;
}

/** Counts the metrics of the registry itself. */
function metricCounters() {
  const kinds = new Map<string, number>();
  return {
    kinds,
    disabled: 0,
    hidden: 0,
    registered: ({ stability, deprecatedSince = "" }: MetricOptions): void => {
      const key = `${stability ?? ""} ${deprecatedSince}`;
      kinds.set(key, (kinds.get(key) ?? 0) + 1);
    },
  };
}

const minorOf = (version: string): number => Number(version.split(".")[1] ?? 0);

/**
 * Reports whether a metric is hidden: deprecated metrics are shown for the rest of their minor release, then
 * only on demand.
 */
function isHidden(
  { deprecatedSince }: MetricOptions,
  { release, showHiddenFor = "" }: MetricsOptions,
): boolean {
  if (deprecatedSince === undefined || release === undefined) return false;
  const minor = minorOf(deprecatedSince);
  return minor < minorOf(release) && (showHiddenFor === "" || minor < minorOf(showHiddenFor));
}

/** Formats a number for the exposition format. */
const numberText = (value: number): string =>
  Number.isFinite(value) || Number.isNaN(value) ? String(value) : value > 0 ? "+Inf" : "-Inf";

class CounterSeries implements Counter {
  value = 0;
  get isUnused(): boolean {
    return this.value === 0;
  }
  add(amount = 1): void {
    this.value += amount;
  }
  reset(): void {
    this.value = 0;
  }
}
class GaugeSeries extends CounterSeries implements Gauge {
  set(value: number): void {
    this.value = value;
  }
}
const counterSeries = (): Counter => new CounterSeries();
const gaugeSeries = (): Gauge => new GaugeSeries();

type Branch<S> = Map<string, Branch<S> | Leaf<S>>;
interface Leaf<S> {
  readonly labels: string;
  readonly series: S;
  wasReset: boolean;
}

/** Looks series up through one map per label, without building key strings. */
class LabelTree<S extends Countable> implements Family<S> {
  readonly #names: readonly string[];
  /** The names in the order in which they are exposed, with their declared positions. */
  readonly #shown: readonly (readonly [name: string, position: number])[];
  readonly #limit: number;
  readonly #allowed: readonly (readonly string[] | undefined)[];
  readonly #make: (labels: string) => S;
  #root: Branch<S> = new Map();
  #only: S | undefined;
  #size = 0;

  constructor(
    names: readonly string[],
    limit: number,
    allowed: readonly (readonly string[] | undefined)[],
    make: (labels: string) => S,
  ) {
    this.#names = names;
    this.#shown = names.map((name, i) => [name, i] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
    this.#limit = limit;
    this.#allowed = allowed;
    this.#make = make;
  }

  with(...values: readonly string[]): S {
    const depth = this.#names.length;
    if (depth === 0) return (this.#only ??= this.#make(""));
    let branch: Branch<S> = this.#root;
    for (let i = 0; i < depth - 1; i++) {
      const next = branch.get(values[i]!) as Branch<S> | undefined;
      if (!next) return this.#add(values);
      branch = next;
    }
    const leaf = branch.get(values[depth - 1]!) as Leaf<S> | undefined;
    return leaf ? leaf.series : this.#add(values);
  }

  #add(given: readonly string[]): S {
    const kept = this.#names.map((_, i) =>
      this.#allowed[i] && !this.#allowed[i].includes(given[i] ?? "") ? "unexpected" : String(given[i] ?? ""),
    );
    const values = this.#size >= this.#limit ? this.#names.map(() => "overflow") : kept;
    let branch: Branch<S> = this.#root;
    for (const value of values.slice(0, -1)) {
      const next = branch.get(value) as Branch<S> | undefined;
      if (next) branch = next;
      else {
        const fresh: Branch<S> = new Map();
        branch.set(value, fresh);
        branch = fresh;
      }
    }
    const last = values.at(-1)!;
    const found = branch.get(last) as Leaf<S> | undefined;
    if (found) return found.series;
    const labels = this.#shown.map(([name, i]) => `${name}="${escapeValue(values[i]!)}"`).join(",");
    const leaf: Leaf<S> = { labels, series: this.#make(labels), wasReset: false };
    branch.set(last, leaf);
    this.#size++;
    return leaf.series;
  }

  remove(...values: readonly string[]): void {
    const way: Branch<S>[] = [this.#root];
    for (const value of values.slice(0, -1)) {
      const next = way.at(-1)!.get(value) as Branch<S> | undefined;
      if (!next) return;
      way.push(next);
    }
    if (!way.at(-1)!.delete(values.at(-1) ?? "")) return;
    this.#size--;
    for (let at = way.length - 1; at > 0 && way[at]!.size === 0; at--) way[at - 1]!.delete(values[at - 1]!);
  }

  clear(): void {
    this.#root = new Map();
    this.#only = undefined;
    this.#size = 0;
  }

  reset(): void {
    this.#only?.reset();
    for (const leaf of this.#leaves(this.#root)) {
      leaf.series.reset();
      leaf.wasReset = true;
    }
  }

  entries(): [labels: string, series: S][] {
    if (this.#only) return [["", this.#only]];
    const found: [string, S][] = [];
    for (const { labels, series, wasReset } of this.#leaves(this.#root))
      if (!wasReset || !series.isUnused) found.push([labels, series]);
    return found.toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  *#leaves(branch: Branch<S>): Generator<Leaf<S>> {
    for (const next of branch.values()) {
      if (next instanceof Map) yield* this.#leaves(next);
      else yield next;
    }
  }
}

const braced = (labels: string): string => (labels ? `{${labels}}` : "");
const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
const escapeValue = (text: string): string =>
  /["\\\n]/.test(text) ? text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : text;
