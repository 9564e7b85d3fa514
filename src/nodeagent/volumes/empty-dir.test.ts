import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { test } from "node:test";
import { podWith, setUp } from "./volumes.fixture.ts";

test("an emptyDir is world-writable; in memory its size is the smallest limit", async (t) => {
  const { mount, mounter, place } = await setUp(t);
  await mount(podWith({ emptyDir: {} }));
  assert.equal((await stat(place("empty-dir"))).mode & 0o7777, 0o777);
  const limited = {
    containers: [
      {
        name: "c",
        resources: { limits: { memory: "64Mi" } },
        volumeMounts: [{ name: "v", mountPath: "/v" }],
      },
    ],
  };
  await mount(podWith({ emptyDir: { medium: "Memory", sizeLimit: "8Mi" } }, {}, { uid: "u2" }));
  await mount(podWith({ emptyDir: { medium: "Memory" } }, limited, { uid: "u3" }));
  assert.deepEqual(mounter.done, [`tmpfs 1777 ${8 * 1024 ** 2}`, `tmpfs 1777 ${64 * 1024 ** 2}`]);
});

test("init containers, which end before the others start, do not add to the size of a volume in memory", async (t) => {
  const { mount, mounter } = await setUp(t);
  const container = (name: string, memory: string) => ({ name, resources: { limits: { memory } } });
  const volumeMounts = [{ name: "v", mountPath: "/v" }];
  const spec = {
    initContainers: [container("i", "16Mi"), container("j", "32Mi")],
    containers: [{ ...container("c", "16Mi"), volumeMounts }, container("d", "8Mi")],
    overhead: { memory: "1Mi" },
  };
  await mount(podWith({ emptyDir: { medium: "Memory" } }, spec));
  assert.deepEqual(mounter.done, [`tmpfs 1777 ${33 * 1024 ** 2}`]);
});

test("without a limit a volume in memory has the kernel's default size", async (t) => {
  const { anAgent, mounter } = await setUp(t);
  const volumes = anAgent({ unlimitedMemory: true });
  const pod = podWith({ emptyDir: { medium: "Memory", sizeLimit: "8Mi" } });
  await volumes.mount(pod, new AbortController().signal);
  assert.deepEqual(mounter.done, ["tmpfs 1777 any"]);
});

const hugePages: [name: string, medium: string, sizes: readonly string[], expected: string | RegExp][] = [
  ["an emptyDir of huge pages has the page size the pod requests", "HugePages", ["2Mi"], "hugetlbfs 2M"],
  [
    "an emptyDir of huge pages may select one of several page sizes",
    "HugePages-1Gi",
    ["2Mi", "1Gi"],
    "hugetlbfs 1G",
  ],
  [
    "an emptyDir of huge pages requires a resource request",
    "HugePages",
    [],
    /medium HugePages: hugePages storage requested, but there is no resource request for huge pages/,
  ],
  [
    "an emptyDir of huge pages requires a request for its page size",
    "HugePages-2Mi",
    ["1Gi"],
    /medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages/,
  ],
  [
    "an emptyDir of huge pages with several requested sizes must select one",
    "HugePages",
    ["2Mi", "1Gi"],
    /medium: HugePages can't be used if container requests multiple huge page sizes/,
  ],
];
for (const [name, medium, sizes, expected] of hugePages)
  test(name, async (t) => {
    const { mount, mounter } = await setUp(t);
    const requests = Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, "4Mi"]));
    const containers = [
      { name: "c", resources: { requests }, volumeMounts: [{ name: "v", mountPath: "/v" }] },
    ];
    const mounted = mount(podWith({ emptyDir: { medium } }, { containers }));
    if (expected instanceof RegExp) return await assert.rejects(mounted, expected);
    await mounted;
    assert.deepEqual(mounter.done, [expected]);
  });
