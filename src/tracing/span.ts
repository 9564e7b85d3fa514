// A timed operation with events and nested operations, logged for slow requests and exported for sampled
// ones. Times are those of performance.now().
import { randomBytes } from "node:crypto";

export type AttributeValue = string | number | boolean;
export type Attributes = Readonly<Record<string, AttributeValue>>;

export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: Attributes | undefined;
}

/** A span of another process, identified by its traceparent header. */
export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** State shared by the spans of one sampled trace. */
export interface SampledTrace {
  readonly traceId: string;
  ended(span: Span): void;
  /** Runs a function with the span as the active one. */
  enter?<T>(span: Span, run: () => T): T;
}

export type SpanKind = "internal" | "server" | "client";

export interface SpanOptions {
  readonly parent?: Span | undefined;
  /** Set if spans are exported; inherited by nested spans. */
  readonly trace?: SampledTrace | undefined;
  /** The parent in another process. */
  readonly remoteParent?: RemoteSpan | undefined;
  readonly link?: RemoteSpan | undefined;
  readonly kind?: SpanKind;
  /** Spans that take at least this long are logged. */
  readonly slowMilliseconds?: number;
  readonly began?: number;
}

/** Maximum number of events and nested spans kept per span, as in the OpenTelemetry SDK. */
export const maxItems = 128;

const noOptions: SpanOptions = {};
const nothing: readonly never[] = [];

export class Span {
  readonly name: string;
  readonly began: number;
  readonly parentId: string;
  readonly trace: SampledTrace | undefined;
  readonly link: RemoteSpan | undefined;
  readonly kind: SpanKind;
  readonly slowMilliseconds: number | undefined;
  /** Eight bytes in hexadecimal; empty unless the trace is sampled. */
  readonly id: string;
  #items: (SpanEvent | Span)[] | undefined;
  readonly #given: Attributes | (() => Attributes) | undefined;
  #added: Record<string, AttributeValue> | undefined;
  /** NaN until the span ends. */
  ended = Number.NaN;
  failed = false;
  dropped = 0;

  /** Attributes given as a function are evaluated when the span is written. */
  constructor(
    name: string,
    attributes?: Attributes | (() => Attributes),
    options: SpanOptions = noOptions,
    parent = options.parent,
  ) {
    this.name = name;
    this.#given = attributes;
    this.began = options.began ?? performance.now();
    this.trace = parent?.trace ?? options.trace;
    this.link = options.link;
    this.kind = options.kind ?? "internal";
    this.slowMilliseconds = options.slowMilliseconds;
    this.id = this.trace ? randomBytes(8).toString("hex") : "";
    this.parentId = parent?.id ?? options.remoteParent?.spanId ?? "";
    if (parent) parent.#add(this);
  }

  /** Starts a nested span. */
  child(
    name: string,
    attributes?: Attributes | (() => Attributes),
    options: Omit<SpanOptions, "parent" | "trace"> = noOptions,
  ): Span {
    return new Span(name, attributes, options, this);
  }

  event(name: string, attributes?: Attributes, at = performance.now()): void {
    this.#add({ name, at, attributes });
  }

  /** Adds an event to exported traces only: there are too many of them to keep for every request. */
  step(name: string, attributes?: Attributes, at = performance.now()): void {
    if (this.trace) this.#add({ name, at, attributes });
  }

  /** Runs a function inside this span. */
  run<T>(run: () => T): T {
    return this.trace?.enter ? this.trace.enter(this, run) : run();
  }

  set(attributes: Attributes): void {
    this.#added = { ...this.#added, ...attributes };
  }

  /** Ends the span; further calls have no effect. */
  end(at = performance.now()): void {
    if (!Number.isNaN(this.ended)) return;
    this.ended = at;
    this.trace?.ended(this);
  }

  get attributes(): Attributes {
    const given = typeof this.#given === "function" ? this.#given() : (this.#given ?? {});
    return this.#added ? { ...given, ...this.#added } : given;
  }

  get milliseconds(): number {
    return this.ended - this.began;
  }

  /** Events and nested spans in order. */
  get items(): readonly (SpanEvent | Span)[] {
    return this.#items ?? nothing;
  }

  #add(item: SpanEvent | Span): void {
    const items = (this.#items ??= []);
    if (items.length < maxItems) items.push(item);
    else this.dropped++;
  }
}
