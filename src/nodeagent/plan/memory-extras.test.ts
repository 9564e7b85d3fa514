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
  ["without swap nothing is said", undefined, "1Ki", {}],
  ["the empty behaviour keeps memory and swap within the limit", "", "1Ki", { memorySwapLimitInBytes: 1024 }],
  [
    "limited swap keeps memory and swap within the limit",
    "LimitedSwap",
    "1Ki",
    { memorySwapLimitInBytes: 1024 },
  ],
  ["without a limit there is nothing to keep within", "LimitedSwap", "", {}],
  ["unlimited swap is unlimited", "UnlimitedSwap", "1Ki", { memorySwapLimitInBytes: -1 }],
];
for (const [name, swap, limit, is] of swaps)
  test(name, () => assert.deepEqual(swapResources(containerOf("1Ki", limit), { swap }), is));

const throttled: [name: string, request: string, limit: string, unified: object | undefined][] = [
  [
    "a request is protected, and use is throttled before the limit",
    "100Ki",
    "200Ki",
    { "memory.min": "102400", "memory.high": "192512" },
  ],
  [
    "without a limit what pods may use counts",
    "100Ki",
    "",
    { "memory.min": "102400", "memory.high": "929792" },
  ],
  ["what asks for nothing is not throttled", "", "", undefined],
  ["what has its limit as request is not throttled", "100Ki", "100Ki", { "memory.min": "102400" }],
];
for (const [name, request, limit, unified] of throttled)
  test(name, () => {
    const extras = { throttlingFactor: 0.9, allocatableBytes: () => 1000 * 1024 };
    assert.deepEqual(throttlingResources(containerOf(request, limit), extras), unified ? { unified } : {});
  });

test("where memory is not throttled nothing is said", () => {
  const extras = { throttlingFactor: undefined, allocatableBytes: () => 0 };
  assert.deepEqual(throttlingResources(containerOf("1Ki", "2Ki"), extras), {});
});
