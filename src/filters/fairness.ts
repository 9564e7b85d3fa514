// Priority and fairness: a request is classified, takes seats of its priority level, is queued for them or is
// rejected. Long-running requests other than watches are not limited; a watch holds its seats until its
// initial events are sent.
import { type Clock, durationOfMillis } from "#base";
import type { Dialect } from "#dialect";
import type { ApiCall } from "#endpoints";
import type { Admission, Flow, FlowControl, ListRequest, RequestDigest } from "#fairness";
import type { Reply } from "#http";
import { bodyInTime, expectsBody } from "./await-body.ts";
import type { Filter } from "./filter.ts";
import { isLongRunning, isMutating } from "./long-running.ts";
import { tooManyRequestsReply } from "./too-many.ts";
import { untilEnd } from "./until-end.ts";

export interface FairnessOptions {
  readonly flowControl: FlowControl;
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Limits of requests in flight, relative to which metrics report the numbers of requests. */
  readonly reading: number;
  readonly writing: number;
  /** Called for every rejected request. */
  readonly refused: (call: ApiCall) => void;
  /** Called when a request is queued, and when it leaves the queue. */
  readonly queued: (call: ApiCall, change: 1 | -1) => void;
}

export function fairness(options: FairnessOptions): Filter {
  const { flowControl, clock } = options;
  const prefix = options.dialect.wire.headerPrefix.toLowerCase();
  const [schemaHeader, levelHeader] = [`${prefix}pf-flowschema-uid`, `${prefix}pf-prioritylevel-uid`];
  // Flows are recreated when their schema or level changes.
  const headers = new WeakMap<Flow, Readonly<Record<string, string>>>();
  const headersOf = ({ uid, level }: Flow): Readonly<Record<string, string>> => ({
    ...(uid && { [schemaHeader]: uid }),
    ...(level.uid && { [levelHeader]: level.uid }),
  });
  const [readOnly, mutating] = [
    flowControl.metrics.readWrite("readOnly"),
    flowControl.metrics.readWrite("mutating"),
  ];
  readOnly.executing.setLimit(options.reading);
  mutating.executing.setLimit(options.writing);

  const waitForSeats = async (flow: Flow, call: ApiCall, digest: RequestDigest): Promise<Admission> => {
    const series = isMutating(call.target) ? mutating : readOnly;
    series.waiting.add(1);
    options.queued(call, 1);
    try {
      return await flowControl.start(flow, digest, () => call.signal);
    } finally {
      options.queued(call, -1);
      series.waiting.add(-1);
    }
  };

  const execute = async (call: ApiCall, release: () => void, next: () => Promise<Reply>): Promise<Reply> => {
    const series = isMutating(call.target) ? mutating : readOnly;
    series.executing.add(1);
    try {
      return await next();
    } finally {
      series.executing.add(-1);
      release();
    }
  };

  const runQueued = async (
    flow: Flow,
    call: ApiCall,
    digest: RequestDigest,
    next: () => Promise<Reply>,
  ): Promise<Reply> => {
    let admission = await waitForSeats(flow, call, digest);
    while (admission.admitted) {
      if (!expectsBody(call) || (await bodyInTime(call, clock)))
        return execute(call, admission.release, next);
      // It is queued again when its body has arrived.
      admission.release();
      await call.call.bodyBuffered();
      admission = await waitForSeats(flow, call, digest);
    }
    options.refused(call);
    return tooManyRequestsReply;
  };

  const runExempt = async (flow: Flow, call: ApiCall, next: () => Promise<Reply>): Promise<Reply> => {
    const series = isMutating(call.target) ? mutating : readOnly;
    const started = clock.monotonic();
    flow.metrics.dispatched.add();
    flow.metrics.executing.add(1);
    series.executing.add(1);
    try {
      return await next();
    } finally {
      series.executing.add(-1);
      flow.metrics.executing.add(-1);
      flow.metrics.took.observe((clock.monotonic() - started) / 1000);
    }
  };

  const admitWatch = async (
    flow: Flow,
    call: ApiCall,
    digest: RequestDigest,
    next: () => Promise<Reply>,
  ): Promise<Reply> => {
    const admission = await flowControl.start(flow, digest, () => call.call.signal);
    if (!admission.admitted) {
      options.refused(call);
      return tooManyRequestsReply;
    }
    const release = once(admission.release);
    const forget = flowControl.watches.add(digest);
    call.watchStarted = release;
    const end = once(() => {
      release();
      forget();
    });
    try {
      return untilEnd(await next(), end);
    } catch (error) {
      end();
      throw error;
    }
  };

  return {
    name: "priority and fairness",
    run: (call, next) => {
      const { target } = call;
      if (!(target.isResource && target.verb === "watch") && isLongRunning(target)) return next();
      const digest = new CallDigest(call);
      const flow = flowControl.classify(digest);
      call.setHeaders(headers.getOrInsertComputed(flow, headersOf));
      return run(
        flow,
        call,
        digest,
        call.logFields ? withLogFields(call.logFields, flow, call, digest, next) : next,
      );
    },
  };

  function run(flow: Flow, call: ApiCall, digest: CallDigest, next: () => Promise<Reply>): Promise<Reply> {
    if (digest.isResource && digest.verb === "watch") return admitWatch(flow, call, digest, next);
    return flow.takesSeats ? runQueued(flow, call, digest, next) : runExempt(flow, call, next);
  }

  /** Wraps `next` to add the seat fields of kube-apiserver's request log. */
  function withLogFields(
    fields: Record<string, unknown>,
    flow: Flow,
    call: ApiCall,
    digest: CallDigest,
    next: () => Promise<Reply>,
  ): () => Promise<Reply> {
    fields["apf_pl"] = flow.level.name;
    fields["apf_fs"] = flow.name;
    if (flow.takesSeats) {
      const { initialSeats, finalSeats, additionalMilliseconds } = flowControl.estimate(flow, digest);
      fields["apf_iseats"] = initialSeats;
      fields["apf_fseats"] = finalSeats;
      fields["apf_additionalLatency"] = durationOfMillis(additionalMilliseconds);
    }
    return async () => {
      const began = performance.now();
      const since = (): string => durationOfMillis(performance.now() - began);
      const { watchStarted } = call;
      if (watchStarted)
        call.watchStarted = () => {
          fields["apf_init_latency"] ??= since();
          watchStarted();
        };
      try {
        return await next();
      } finally {
        fields["apf_execution_time"] = since();
      }
    };
  }
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    run();
  };
}

/** The attributes of a call that flow control uses. */
class CallDigest implements RequestDigest {
  readonly userName: string;
  readonly groups: readonly string[];
  readonly verb: string;
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly #call: ApiCall;

  constructor(call: ApiCall) {
    const { target, user } = call;
    this.#call = call;
    this.userName = user?.name ?? "";
    this.groups = user?.groups ?? [];
    this.verb = target.verb;
    this.isResource = target.isResource;
    this.path = target.path;
    this.group = target.group;
    this.version = target.version;
    this.namespace = target.namespace;
    this.resource = target.resource;
    this.subresource = target.subresource;
    this.name = target.name;
  }

  list(): ListRequest {
    const { query } = this.#call;
    const match = query.get("resourceVersionMatch") ?? "";
    return {
      limit: Number(query.get("limit") ?? 0) || 0,
      resourceVersion: query.get("resourceVersion") ?? "",
      continues: (query.get("continue") ?? "") !== "",
      selects: (query.get("labelSelector") ?? "") !== "" || (query.get("fieldSelector") ?? "") !== "",
      exactMatch: match !== "" && match !== "NotOlderThan",
    };
  }
}
