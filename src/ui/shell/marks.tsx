// The marks of the timeline as icons: each kind has its own shape in addition to its color.
import type { MarkKind } from "./mark-kind.ts";

const shapes = {
  normal: <rect x="5" y="2" width="4" height="10" rx="1.5" fill="var(--normal)" />,
  warning: <path d="M7 1.5 13 12.5H1Z" fill="var(--warning)" />,
  change: <circle cx="7" cy="7" r="4" fill="none" stroke="var(--change)" stroke-width="2" />,
  good: (
    <path d="M2 7.5 5.5 11 12 3.5" fill="none" stroke="var(--good)" stroke-width="2" stroke-linecap="round" />
  ),
} as const satisfies Record<MarkKind, unknown>;

export const Mark = ({ kind }: { kind: MarkKind }) => (
  <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
    {shapes[kind]}
  </svg>
);
