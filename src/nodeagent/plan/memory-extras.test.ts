import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "#api";
import { swapResources, throttlingResources } from "./memory-extras.ts";

const containerOf = (request?: string, limit?: string): Container => ({
  name: "c",
  resources: {
    requests: { ...(request && { memory: request }) },
    limits: { ...(limit && { memory: limit }) },
  },
});

const swaps: [
  name: string,
  swap: "" | "LimitedSwap" | "UnlimitedSwap" | undefined,
  limit: string,
  is: object,
][] = [
  ["without swap nothing is set", undefined, "1Ki", {}],
  ["the empty behaviour keeps memory and swap within the limit", "", "1Ki", { memorySwapLimitInBytes: 1024 }],
  [
    "limited swap keeps memory and swap within the limit",
    "LimitedSwap",
    "1Ki",
    { memorySwapLimitInBytes: 1024 },
  ],
  ["limited swap without a memory limit sets nothing", "LimitedSwap", "", {}],
  ["unlimited swap is unlimited", "UnlimitedSwap", "1Ki", { memorySwapLimitInBytes: -1 }],
];
for (const [name, swap, limit, is] of swaps)
  test(name, () => assert.deepEqual(swapResources(containerOf("1Ki", limit), { swap }), is));

const throttled: [name: string, request: string, limit: string, unified: object | undefined][] = [
  [
    "the request is protected, and usage is throttled below the limit",
    "100Ki",
    "200Ki",
    { "memory.min": "102400", "memory.high": "192512" },
  ],
  [
    "without a limit node allocatable is used",
    "100Ki",
    "",
    { "memory.min": "102400", "memory.high": "929792" },
  ],
  ["a container without request and limit is not throttled", "", "", undefined],
  [
    "a container whose request equals its limit is not throttled",
    "100Ki",
    "100Ki",
    { "memory.min": "102400" },
  ],
];
for (const [name, request, limit, unified] of throttled)
  test(name, () => {
    const extras = { throttlingFactor: 0.9, allocatableBytes: () => 1000 * 1024 };
    assert.deepEqual(throttlingResources(containerOf(request, limit), extras), unified ? { unified } : {});
  });

test("without a throttling factor nothing is set", () => {
  const extras = { throttlingFactor: undefined, allocatableBytes: () => 0 };
  assert.deepEqual(throttlingResources(containerOf("1Ki", "2Ki"), extras), {});
});
