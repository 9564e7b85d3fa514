// The reference pages of programs that are clients of the API server.
import { test } from "node:test";
import { dialects } from "#dialect";
import { golden } from "#kit";
import { renderReference } from "#options";
import { managerOptions, schedulerOptions } from "./control-options.ts";
import { dnsOptions, networkOptions, proxyOptions } from "./network-options.ts";

const introduction = [
  "Settings are given as flags. Dashes and underscores in flag names are interchangeable; durations are written as `1h30m`.",
];
const pages: [title: string, render: (parts: { title: string; introduction: string[] }) => string][] = [
  ["orch-controller-manager", (parts) => renderReference(managerOptions(dialects.orch), parts)],
  ["orch-scheduler", (parts) => renderReference(schedulerOptions(dialects.orch), parts)],
  ["orch-proxy", (parts) => renderReference(proxyOptions(dialects.orch), parts)],
  ["orch-dns", (parts) => renderReference(dnsOptions(dialects.orch), parts)],
  ["orch-network", (parts) => renderReference(networkOptions(dialects.orch), parts)],
];
for (const [title, render] of pages)
  test(`the reference page of ${title} is up to date`, () => {
    golden(`docs/reference/${title}.md`, render({ title, introduction }));
  });
