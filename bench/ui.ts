// Claim: the page stays responsive with very many events: the first view appears within half a second, no frame while
// scrolling and zooming takes longer than 50 ms, the page stays below 200 MB, and a view costs the server less than
// 20 ms of CPU time. Wall times depend on other load, so CPU time is printed as well.
//
//   npm run bench -- ui [--events=200000] [--objects=5000] [--dir=FOLDER]
//
// The server keeps its data in the folder; an existing folder is reused.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, startServer } from "#apiserver";
import { timelineGroup } from "#dialect";
import { openBrowser, signedIn, visit } from "../test/ui/browser.fixture.ts";
import { figure, median, percentile, row } from "./kit/figures.ts";
import { given, givenNumber, isGiven } from "./kit/given.ts";
import { inFlight } from "./kit/in-flight.ts";

const events = givenNumber("events", 200_000);
const objects = givenNumber("objects", 5000);
const own = isGiven("dir") ? undefined : mkdtempSync(join(tmpdir(), "orch-ui-"));
const dir = given("dir") ?? own!;
const owners = Math.ceil(objects / 50);
const lanes = 64;
const hour = 3_600_000;

const open = (): Promise<RunningServer> =>
  startServer({ store: { dir }, port: 0, flags: ["--event-ttl=24h"] });
const isFilled = existsSync(join(dir, "store"));
let server = await open();
const post = async (path: string, body: unknown): Promise<Record<string, Record<string, string>>> => {
  const headers = { "content-type": "application/json" };
  const reply = await server.inject({ method: "POST", path, headers, body: JSON.stringify(body) });
  if (reply.status !== 201) throw new Error(`${path}: ${await reply.text()}`);
  return (await reply.json()) as Record<string, Record<string, string>>;
};

if (!isFilled) {
  await fill();
  await server.stop();
  server = await open();
}
const browser = await openBrowser();
await using visitor = await visit(browser, server.url, { width: 1440, height: 900 });
const { page } = visitor;
await signedIn(page, server.clientConfig.users[0]!.user.token!);
const view = `${server.url}/ui/#/timeline?last=24h`;

row("events", figure(events));
row("objects", figure(objects));
// The server has just started and is building its index.
await noteFirstLanes();
const cold = await firstView();
const warm: number[] = [];
for (let at = 0; at < 5; at++) {
  await page.goto("about:blank");
  warm.push(await firstView());
}
row("first view of a server that was just started, ms", figure(cold));
row("first view, ms", figure(median(warm)));
for (const [name, path] of [
  ["lanes, a first page", "lanes?since=24h&points=400&limit=200"],
  ["lanes, all", "lanes?since=24h&points=400&limit=5000"],
  ["buckets", "buckets?since=24h&points=120"],
] as const)
  row(`server, processor time of ${name}, ms`, figure(await cpuOf(`/apis/${timelineGroup}/v1/${path}`), 1));
await page.getByText(/^[\d,]+ objects, live$/).waitFor();
report("scrolling", await frames(() => wheel(0, 900)));
report("zooming", await frames(() => zoom()));
report("moving in time", await frames(() => wheel(120, 0)));
row("script heap of the page, MB", figure(await heapMegabytes()));
row("the page's process, proportional set size, MB", figure(await rendererMegabytes()));
await browser.close();
await server.stop();
if (own !== undefined) rmSync(own, { recursive: true, force: true });
process.exit(0);

async function fill(): Promise<void> {
  process.stderr.write("  filling\n");
  const uids: string[] = [];
  const pods: { name: string; uid: string }[] = [];
  await inFlight(lanes, owners, async (at) => {
    const made = await post("/apis/apps/v1/namespaces/default/replicasets", {
      metadata: { name: `set-${at}` },
      spec: {
        replicas: 50,
        selector: { matchLabels: { set: `${at}` } },
        template: {
          metadata: { labels: { set: `${at}` } },
          spec: { containers: [{ name: "app", image: "app:1" }] },
        },
      },
    });
    uids[at] = made["metadata"]!["uid"]!;
  });
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } }).catch(
    () => undefined,
  );
  await inFlight(lanes, objects, async (at) => {
    const set = at % owners;
    const made = await post("/api/v1/namespaces/default/pods", {
      metadata: {
        name: `pod-${at}`,
        labels: { set: `${set}` },
        ownerReferences: [
          { apiVersion: "apps/v1", kind: "ReplicaSet", name: `set-${set}`, uid: uids[set], controller: true },
        ],
      },
      spec: { containers: [{ name: "app", image: "app:1" }] },
    });
    pods[at] = { name: `pod-${at}`, uid: made["metadata"]!["uid"]! };
  });
  const began = Date.now();
  await inFlight(lanes, events, async (at) => {
    const pod = pods[at % objects]!;
    const time = new Date(began - ((at * 7919) % hour)).toISOString().replace(/\.\d+Z/, "Z");
    const isWarning = at % 7 === 0;
    await post("/api/v1/namespaces/default/events", {
      metadata: { name: `event-${at}` },
      involvedObject: { kind: "Pod", apiVersion: "v1", namespace: "default", ...pod },
      reason: isWarning ? "BackOff" : "Pulled",
      message: isWarning
        ? "Back-off restarting failed container"
        : 'Container image "app:1" is already present',
      type: isWarning ? "Warning" : "Normal",
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      source: { component: "agent", host: "node-1" },
    });
  });
}

/** Milliseconds from the start of the navigation until the first lanes are painted, by the page's clock. */
async function firstView(): Promise<number> {
  await page.goto(view);
  await page.getByRole("treeitem").first().waitFor();
  const noted = "new Promise((done) => requestAnimationFrame(() => done(globalThis.firstLanes)))";
  return Number(await page.evaluate(noted));
}

/** Records in every opened page when the frame with the first lanes begins. */
async function noteFirstLanes(): Promise<void> {
  await page.addInitScript(`{
    const observer = new MutationObserver(() => {
      if (!document.querySelector('[role="treeitem"]')) return;
      observer.disconnect();
      requestAnimationFrame(() => { globalThis.firstLanes = performance.now(); });
    });
    observer.observe(document, { childList: true, subtree: true });
  }`);
}

async function cpuOf(path: string): Promise<number> {
  const ask = async (): Promise<void> => void (await (await server.inject({ path })).bytes());
  await ask();
  const rounds = 10;
  const before = process.threadCpuUsage();
  for (let at = 0; at < rounds; at++) await ask();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 / rounds;
}

async function wheel(x: number, y: number): Promise<void> {
  await page.mouse.move(900, 500);
  for (let at = 0; at < 60; at++) await page.mouse.wheel(x, at < 30 ? y : -y);
}

async function zoom(): Promise<void> {
  await page.mouse.move(900, 500);
  await page.keyboard.down("Control");
  for (let at = 0; at < 60; at++) await page.mouse.wheel(0, at < 30 ? -60 : 60);
  await page.keyboard.up("Control");
}

interface Frames {
  readonly gaps: readonly number[];
  /** CPU time of each task of the page's main thread, in milliseconds. */
  readonly tasks: readonly number[];
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** CPU time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** Measures gaps between frames, and the work of the page's main thread, during an action. */
async function frames(act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(`(() => {
    const seen = (globalThis.seen = { gaps: [], over: false });
    let last = performance.now();
    const frame = () => {
      const now = performance.now();
      seen.gaps.push(now - last);
      last = now;
      if (!seen.over) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  })()`);
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send("Tracing.start", { traceConfig: { includedCategories: ["toplevel", "__metadata"] } });
  await act();
  await page.waitForTimeout(600);
  const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}/${tid}`;
  const main = new Set(events.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = events.filter((event) => main.has(threadOf(event)) && event.name.endsWith("RunTask"));
  const { gaps } = (await page.evaluate("seen.over = true, seen")) as Pick<Frames, "gaps">;
  return { gaps, tasks: tasks.map(({ tdur = 0 }) => tdur / 1000) };
}

function report(what: string, { gaps, tasks }: Frames): void {
  row(
    `${what}: frames, median / 99% / longest, ms`,
    [0.5, 0.99, 1].map((share) => figure(percentile(gaps, share))).join(" / "),
  );
  row(`${what}: longest task, processor time, ms`, figure(Math.max(0, ...tasks)));
}

async function heapMegabytes(): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "JSHeapUsedSize")?.value ?? 0) / 1e6;
}

/** The largest renderer is that of the page; browsers keep a spare one. */
async function rendererMegabytes(): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8"))?.[1] ?? "0")
    .reduce((most, kilobytes) => Math.max(most, Number(kilobytes) / 1024), 0);
}
