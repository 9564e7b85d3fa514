// Lets go of what tests that have ended hold: the test runner keeps every test until the process ends, and with
// it the functions of its hooks, and with `t.after(() => server.stop())` a whole server. With hundreds of them
// each garbage collection of a process that runs thousands of tests takes a second.

/**
 * Is told of each test and hook as it is declared; ended() lets go of the tests that have ended since it was
 * called last.
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
      // A hook has no parent, and is not in the list.
      all ??= declared.find(({ parent }) => parent)?.root.subtests;
      while (all?.[first]?.finished) letGo(all[first++]);
    },
  };
}

function letGo(test) {
  test.fn = null;
  for (const hook of [...test.hooks.before, ...test.hooks.after]) hook.fn = null;
  // Those that run for each test are shared with the tests around.
  for (const hooks of [test.hooks.beforeEach, test.hooks.afterEach]) hooks.length = 0;
  for (const inner of test.subtests) letGo(inner);
}
