// A flame graph (SVG) of a part of a V8 CPU profile: callers above callees, with the time spent as width. Idle time is
// omitted.

export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  /** Monotonic time in microseconds. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface Frame {
  readonly name: string;
  micros: number;
  selfMicros: number;
  readonly callees: Map<string, Frame>;
}

const width = 1200;
const rowHeight = 16;
const smallestShare = 0.003;
const letterWidth = 6.5;
const waiting = new Set(["(idle)", "(root)"]);

/** Returns the samples between two monotonic times in microseconds. */
export function frameTree(profile: CpuProfile, from: number, to: number): Frame {
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id);
  const names = new Map(profile.nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const root = newFrame("all");
  let now = profile.startTime;
  for (const [at, sample] of profile.samples.entries()) {
    const micros = Math.max(0, profile.timeDeltas[at]!);
    now += micros;
    if (now < from || now > to || names.get(sample) === "(idle)") continue;
    const stack: string[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id))
      if (!waiting.has(names.get(id)!)) stack.push(names.get(id)!);
    let frame = root;
    frame.micros += micros;
    for (const name of stack.reverse()) {
      frame = frame.callees.getOrInsertComputed(name, newFrame);
      frame.micros += micros;
    }
    frame.selfMicros += micros;
  }
  return root;
}

const newFrame = (name: string): Frame => ({ name, micros: 0, selfMicros: 0, callees: new Map() });

function nameOf({ functionName, url }: CpuProfile["nodes"][number]["callFrame"]): string {
  const file = url.startsWith("node:") ? ` (${url})` : "";
  return `${functionName || "(anonymous)"}${file}`;
}

/** Returns functions by their share of self time, largest first. */
export function selfShares(root: Frame): { readonly name: string; readonly share: number }[] {
  const sums = new Map<string, number>();
  const visit = ({ name, selfMicros, callees }: Frame): void => {
    sums.set(name, (sums.get(name) ?? 0) + selfMicros);
    for (const callee of callees.values()) visit(callee);
  };
  visit(root);
  return [...sums]
    .map(([name, micros]) => ({ name, share: micros / root.micros }))
    .sort((a, b) => b.share - a.share);
}

export function flameGraph(root: Frame, title: string): string {
  const boxes: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const share = frame.micros / root.micros;
    if (share < smallestShare) return;
    deepest = Math.max(deepest, depth);
    const wide = share * width;
    const y = (depth + 1) * rowHeight;
    const text = frame.name.slice(0, Math.floor(wide / letterWidth));
    boxes.push(
      `<g><title>${escaped(frame.name)} ${(100 * share).toFixed(1)} %</title>` +
        `<rect x="${x.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="15" fill="${colorOf(frame.name)}"/>` +
        `${text.length > 2 ? `<text x="${(x + 2).toFixed(1)}" y="${y + 11}">${escaped(text)}</text>` : ""}</g>`,
    );
    let at = x;
    for (const callee of [...frame.callees.values()].sort((a, b) => b.micros - a.micros)) {
      draw(callee, at, depth + 1);
      at += (callee.micros / root.micros) * width;
    }
  };
  draw(root, 0, 0);
  const height = (deepest + 3) * rowHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="10">`,
    `<text x="2" y="12" font-size="12">${escaped(title)}</text>`,
    ...boxes,
    "</svg>\n",
  ].join("\n");
}

/** The runtime's own time, mostly garbage collection, has a different color. */
const colorOf = (name: string): string =>
  name.startsWith("(") ? "#d9a0a0" : name.includes("(node:") ? "#b8c4dd" : "#f0c878";

const escaped = (text: string): string => text.replace(/[&<>"]/g, (letter) => `&#${letter.codePointAt(0)};`);
