// The event loop's handle to the writer thread: one job at a time, each a promise that settles when the job
// is on disk.

import { Worker } from "node:worker_threads";
import { siblingModule, type Fault, faultOf } from "./files.ts";
import type { WriterRequest, Pages, WriterAnswer, WriterJob } from "./job.ts";
import type { WriterData } from "./writer.ts";

/** The job failed as a whole; nothing of it was kept. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

export class WriterThread {
  readonly #worker: Worker;
  #settle:
    | { readonly resolve: (answer: WriterAnswer) => void; readonly reject: (error: Error) => void }
    | undefined;
  #exitError: Error | undefined;

  private constructor(data: WriterData) {
    // Pass no flags on: the thread needs none, and those of a test runner would confuse it.
    this.#worker = new Worker(siblingModule("writer"), {
      workerData: data,
      execArgv: [],
      name: "store writer",
      resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.on("message", (answer: WriterAnswer) => this.#take()?.resolve(answer));
    this.#worker.on("error", (error) => this.#fail(new JobFailed(faultOf(error))));
    this.#worker.on("exit", () => this.#fail(new JobFailed({ code: 0, message: "the writer thread ended" })));
  }

  /** Starts the thread and waits until it has opened the database. */
  static async start(data: WriterData): Promise<WriterThread> {
    const thread = new WriterThread(data);
    const answer = await thread.#answer();
    if (typeof answer === "object" && "fault" in answer) {
      await thread.#worker.terminate();
      throw new JobFailed(answer.fault);
    }
    thread.#worker.unref();
    return thread;
  }

  /**
   * Runs a job, transferring its buffer, and returns the page counts if they were counted. The caller must
   * wait until it has settled before it runs the next.
   */
  async run(job: WriterJob): Promise<Pages | undefined> {
    // An idle thread does not keep the process alive, a working one does.
    this.#worker.ref();
    const answered = this.#answer();
    this.#worker.postMessage({ do: "job", job } satisfies WriterRequest, [job.packed]);
    try {
      const answer = await answered;
      if (answer === "done") return undefined;
      if (answer === "closed") throw new JobFailed({ code: 0, message: "the writer thread has closed" });
      if ("fault" in answer) throw new JobFailed(answer.fault);
      return answer.done;
    } finally {
      this.#worker.unref();
    }
  }

  async close(): Promise<void> {
    if (this.#exitError) return;
    this.#worker.ref();
    const ended = new Promise<void>((resolve) => void this.#worker.once("exit", () => resolve()));
    this.#worker.postMessage({ do: "close" } satisfies WriterRequest);
    await ended;
  }

  #answer(): Promise<WriterAnswer> {
    if (this.#exitError) return Promise.reject(this.#exitError);
    return new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
  }

  #take():
    | { readonly resolve: (answer: WriterAnswer) => void; readonly reject: (error: Error) => void }
    | undefined {
    const settle = this.#settle;
    this.#settle = undefined;
    return settle;
  }

  #fail(error: Error): void {
    this.#exitError ??= error;
    this.#take()?.reject(this.#exitError);
  }
}
