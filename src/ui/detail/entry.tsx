// One timeline entry: what happened, when, how often, and who reported it.
import type { TimelineEntry } from "../api/wire.ts";
import { markOf } from "../shell/mark-kind.ts";
import { Mark } from "../shell/marks.tsx";
import { visibleLine } from "../text/visible.ts";
import { clockTime, fullTime, roughSpan } from "../view/time.ts";
import { diffLines } from "./field-diff.ts";
import { LongText } from "./long-text.tsx";

interface EntryProps {
  readonly entry: TimelineEntry;
  /** Called on a click on the object's name, which is only shown if this is set. */
  readonly onObject?: ((entry: TimelineEntry) => void) | undefined;
  readonly withDiff?: boolean;
}

export function Entry({ entry, onObject, withDiff = false }: EntryProps) {
  const { type, reason, note, series, change, object, controller } = entry;
  const kind = markOf(type);
  const time = Date.parse(entry.time);
  return (
    <li class={`entry ${kind}`}>
      <span class="mark">
        <Mark kind={kind} />
        <span class="hidden-label">{visibleLine(type)}</span>
      </span>
      <span class="head">
        <b>{visibleLine(reason || type)}</b>
        {series && (
          <span class="badge" title={`from ${series.first} to ${series.last}`}>
            ×{series.count} in {roughSpan(Date.parse(series.last) - Date.parse(series.first))}
          </span>
        )}
        {(change?.revisions ?? 1) > 1 && <span class="badge change">{change!.revisions} revisions</span>}
      </span>
      <time dateTime={entry.time} title={fullTime(time)}>
        {clockTime(time)}
      </time>
      {note !== "" && (
        <div class="note">
          <LongText text={note} />
        </div>
      )}
      {withDiff && change?.fields && <Diff change={change} />}
      <div class="about">
        {onObject && (
          <>
            <button class="link" onClick={() => onObject(entry)}>
              {visibleLine(object.kind)} {visibleLine(object.name)}
            </button>
            {controller || change?.user ? " · " : ""}
          </>
        )}
        {change?.user !== undefined && `by ${visibleLine(change.user)} · `}
        {controller !== undefined && visibleLine(controller)}
        {entry.node !== undefined && ` on ${visibleLine(entry.node)}`}
      </div>
    </li>
  );
}

const maxLines = 200;

function Diff({ change }: { change: NonNullable<TimelineEntry["change"]> }) {
  const lines = diffLines(change.fields ?? [], change.moreFields);
  return (
    <div class="diff" aria-label="Changed fields">
      {lines.slice(0, maxLines).map(({ is, text }) => (
        <div class={is}>
          <LongText text={text} />
        </div>
      ))}
      {lines.length > maxLines && <div class="note">and {lines.length - maxLines} more lines</div>}
    </div>
  );
}
