// Releases memory held by finished tests: the test runner keeps every test and its hooks until the process ends,
// and `t.after(() => server.stop())` keeps a whole server. With hundreds of them each garbage collection of a
// process that runs thousands of tests takes a second.

/**
 * declared() registers each test and hook; ended() releases the tests that have finished since the last call.
 */
export function forgetEnded() {
  const declared = [];
  let all;
  let first = 0;
  return {
    declared: (test) => {
      if (all === undefined) declared.push(test);
    },
    ended: () => {
      // A hook has no parent and is not in the list.
      all ??= declared.find(({ parent }) => parent)?.root.subtests;
      while (all?.[first]?.finished) letGo(all[first++]);
    },
  };
}

function letGo(test) {
  test.fn = null;
  for (const hook of [...test.hooks.before, ...test.hooks.after]) hook.fn = null;
  // beforeEach and afterEach hooks are shared with the enclosing tests.
  for (const hooks of [test.hooks.beforeEach, test.hooks.afterEach]) hooks.length = 0;
  for (const inner of test.subtests) letGo(inner);
}
