// `orch events` shows the timeline of an object and its dependents; `orch events export` exports all events.
import { systemClock } from "#base";
import { apiClient, connectionOf, https, kinds, readClientConfig } from "#client";
import { type Dialect, timelineGroup } from "#dialect";
import {
  type OptionSet,
  type OptionsOf,
  type SettingsOf,
  bool,
  dialectOption,
  duration,
  helpOption,
  option,
  section,
  terminalWidth,
  text,
} from "#options";
import type { Timeline } from "#timeline";
import type { Output } from "../output.ts";
import { reasonToStop } from "../up/channel.ts";
import { clusterCommand } from "../up/cluster-command.ts";
import { clientConfigOption, dataDirOption, pathsFor } from "../up/paths.ts";
import { exportEvents } from "./export.ts";
import { cursorFile, noCursor } from "./export-cursor.ts";
import { fileTarget, streamTarget } from "./export-file.ts";
import { otlpTarget } from "./export-otlp.ts";
import { laneView } from "./lane-view.ts";

const sections = (dialect: Dialect) =>
  [
    section("Cluster", [
      clientConfigOption,
      option({
        flag: "namespace",
        short: "n",
        type: text,
        default: "",
        defaultText: "default; for an export all namespaces",
        doc: "Namespace of the object, or of the events to export.",
      }),
      option({
        flag: "all-namespaces",
        short: "A",
        type: bool,
        default: false,
        doc: "All namespaces, and cluster-scoped objects.",
      }),
      dataDirOption,
      dialectOption(dialect),
      helpOption,
    ]),
    section("View", [
      option({
        flag: "tree",
        type: bool,
        default: false,
        doc: "Include everything that the object owns or owned.",
      }),
      option({ flag: "since", type: duration, default: 3_600_000, doc: "Print events of this last period." }),
    ]),
    section("Export", [
      option({
        flag: "follow",
        type: bool,
        default: false,
        doc: "Continue with new events, until Ctrl-C.",
      }),
      option({
        flag: "cursor-file",
        type: text,
        default: "",
        doc: "File with the position of the export, from which the next start continues.",
      }),
      option({
        flag: "file",
        type: text,
        default: "",
        defaultText: "standard output",
        doc: "File to append JSON lines to. With a cursor, no event occurs twice, even after a crash.",
      }),
      option({
        flag: "otlp-endpoint",
        type: text,
        default: "",
        doc: "OpenTelemetry collector (gRPC) to send logs to instead of writing lines, such as localhost:4317.",
      }),
    ]),
  ] as const;
type EventsOption = OptionsOf<ReturnType<typeof sections>>;
const eventsOptions = (dialect: Dialect): OptionSet<EventsOption> => ({
  program: "orch events",
  summary:
    "Prints the timeline of an object given as kind/name, or of a namespace. `orch events export` exports all events.",
  dialect,
  sections: sections(dialect),
  checks: [],
  takesArguments: true,
});

export const eventsCommand = (argv: readonly string[], output: Output): Promise<number> =>
  clusterCommand(eventsOptions, argv, output, async ({ dialect, settings, words }) => {
    const [first, ...more] = words;
    if (more.length > 0) throw new Error("specify one object as kind/name, or export");
    const { orchconfig, dataDir } = settings;
    const config = readClientConfig(orchconfig || pathsFor(dialect, dataDir).adminConfig);
    const transport = https(connectionOf(config));
    try {
      const client = apiClient(transport, dialect);
      if (first === "export") {
        await runExport(client, settings, output);
        return 0;
      }
      const path = timelinePath(first, settings);
      const timeline = (await client.request("GET", path)) as Timeline;
      const until = Date.now();
      const width = terminalWidth(process.env, process.stdout.columns);
      const items = timeline.items.toReversed();
      output.out(laneView({ ...timeline, items }, { width, since: until - settings.since, until }));
      return 0;
    } finally {
      transport.close();
    }
  });

type EventsSettings = SettingsOf<EventsOption>;

/**
 * Returns the request path for the newest entries of the range; throws if the object is not given as
 * kind/name.
 */
export function timelinePath(
  object: string | undefined,
  settings: Pick<EventsSettings, "namespace" | "allNamespaces" | "tree" | "since">,
): string {
  const { namespace, allNamespaces, tree, since } = settings;
  const query = new URLSearchParams({ since: `${since}ms`, limit: "5000", order: "newest" });
  if (object !== undefined) {
    const [kind, name, ...rest] = object.split("/");
    if (!kind || !name || rest.length > 0)
      throw new Error(`"${object}" is not kind/name, such as deploy/web`);
    query.set("kind", kind);
    query.set("name", name);
    if (tree) query.set("tree", "true");
  } else if (tree) throw new Error("--tree needs an object, such as deploy/web");
  const place = allNamespaces ? "" : `namespaces/${encodeURIComponent(namespace || "default")}/`;
  return `/apis/${timelineGroup}/v1/${place}timelines?${query.toString()}`;
}

async function runExport(
  client: ReturnType<typeof apiClient>,
  settings: EventsSettings,
  output: Output,
): Promise<void> {
  const { file: lines, otlpEndpoint, cursorFile: cursor, follow, namespace, allNamespaces } = settings;
  if (lines !== "" && otlpEndpoint !== "") throw new Error("specify only one of --file and --otlp-endpoint");
  const clock = systemClock;
  const target =
    otlpEndpoint !== ""
      ? otlpTarget(otlpEndpoint, clock)
      : lines !== ""
        ? await fileTarget(lines)
        : streamTarget(process.stdout);
  const stop = new AbortController();
  if (follow) void reasonToStop().then(() => stop.abort());
  try {
    await exportEvents({
      events: client.of(kinds.events),
      namespace: allNamespaces ? "" : namespace,
      cursor: cursor === "" ? noCursor : cursorFile(cursor),
      target,
      follow,
      clock,
      signal: stop.signal,
      warn: (message) => output.err(`warning: ${message}\n`),
    });
  } finally {
    await target.close();
  }
}
