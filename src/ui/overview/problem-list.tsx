// The list of current problems, each with a link to its timeline.
import { useShell } from "../shell/context.ts";
import { Mark } from "../shell/marks.tsx";
import { Failure, Loading } from "../shell/states.tsx";
import type { Loaded } from "../shell/use-loaded.ts";
import { queryFor } from "../search/parse.ts";
import { cut, visibleLine } from "../text/visible.ts";
import { presetFor } from "../view/range.ts";
import { selectedOf } from "../view/route.ts";
import { roughSpan } from "../view/time.ts";
import { type Problems, maxLoaded } from "./load.ts";
import type { Problem } from "./problems.ts";

const maxProblems = 50;

export function ProblemList({ problems }: { problems: Loaded<Problems> }) {
  if (problems.is === "loading") return <Loading what="problems" />;
  if (problems.is === "failed") return <Failure error={problems.error} what="Current problems" />;
  const { list, unchecked } = problems.value;
  const note = unchecked
    .map((kind) => `Only the first ${maxLoaded.toLocaleString("en")} ${kind} were checked.`)
    .join(" ");
  if (list.length === 0)
    return (
      <div class="state">
        <Mark kind="good" />
        <h2>No problems found</h2>
        <p>No crash loops, no pods without a node, no failing probes, no evictions. {note}</p>
      </div>
    );
  return (
    <ul class="problems">
      {list.slice(0, maxProblems).map((problem) => (
        <ProblemLine key={`${problem.object.uid}/${problem.what}`} problem={problem} />
      ))}
      {(list.length > maxProblems || note) && (
        <li class="state">
          {list.length > maxProblems && `And ${list.length - maxProblems} more. `}
          {note}
        </li>
      )}
    </ul>
  );
}

function ProblemLine({ problem: { what, why, object, since, count } }: { problem: Problem }) {
  const { go, now } = useShell();
  const open = (): void =>
    go({
      page: "timeline",
      search: object.namespace === undefined ? queryFor(object) : `-n ${object.namespace}`,
      selected: selectedOf(object),
      range: { live: true, span: presetFor(since > 0 ? now() - since : 0) },
      tab: "events",
    });
  return (
    <li>
      <button class="problem" onClick={open}>
        <Mark kind="warning" />
        <span>
          <span class="what">{visibleLine(what)}</span>
          <br />
          <span class="who">
            {object.namespace !== undefined && `${visibleLine(object.namespace)}/`}
            {visibleLine(object.name)}
            {count > 1 && ` and ${count - 1} more`}
          </span>
        </span>
        <span class="why">{visibleLine(cut(why, 400).text)}</span>
        <time>{since > 0 ? `for ${roughSpan(now() - since)}` : ""}</time>
      </button>
    </li>
  );
}
