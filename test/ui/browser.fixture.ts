// A real browser for tests of the page: one Chromium per test file, a new profile for each visitor.
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, type BrowserContext, type Page, type Request, chromium } from "playwright-core";
import { programPath } from "#kit";

export type { Page };

export interface Visitor extends AsyncDisposable {
  readonly page: Page;
  /** Errors that the page reported; empty in a passing test. */
  readonly problems: readonly string[];
}

export interface VisitOptions {
  readonly dark?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** Whether the page is used with a touch screen. */
  readonly touch?: boolean;
}

/** Maximum duration of any wait. */
const patienceMilliseconds = 120_000;

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: programPath("chromium")!,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    timeout: patienceMilliseconds,
  });
}

/** Opens a tab. Requests to other origins fail the test through `problems`. */
export async function visit(
  browser: Browser,
  origin: string,
  { dark = false, width = 1280, height = 800, touch = false }: VisitOptions = {},
): Promise<Visitor> {
  const context: BrowserContext = await browser.newContext({
    ignoreHTTPSErrors: true,
    colorScheme: dark ? "dark" : "light",
    viewport: { width, height },
    hasTouch: touch,
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(patienceMilliseconds);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    // Error responses are part of many tests; the browser logs each of them.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`a request to ${request.url()}`);
  });
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

const networkChanged = "ERR_NETWORK_CHANGED";
/**
 * The browser's error page may load during the next attempt, and so may a navigation that was started before.
 */
const interruptions = ["is interrupted by another navigation", "Not attached to an active page"];
const isBrokenOff = ({ message }: Error): boolean =>
  [networkChanged, ...interruptions].some((words) => message.includes(words));

/**
 * Navigates and retries: Chromium aborts loading the page or its parts when network interfaces of the machine
 * are added or removed, as other tests do.
 */
export async function goTo(page: Page, url: string): Promise<void> {
  const failures: Error[] = [];
  const noteFailure = (request: Request): void => {
    const { errorText = "" } = request.failure() ?? {};
    const isPart = request.resourceType() === "script" || request.resourceType() === "stylesheet";
    if (isPart && errorText.includes(networkChanged)) failures.push(new Error(errorText));
  };
  page.on("requestfailed", noteFailure);
  try {
    for (let left = 20; ; left--) {
      failures.length = 0;
      // Navigating to the current URL would not load anything.
      const going = page.url() === url ? page.reload() : page.goto(url);
      await going.catch((error: Error) => failures.push(error));
      const [failure] = failures;
      if (!failure) return;
      if (left === 0 || !isBrokenOff(failure)) throw failure;
      await sleep(100);
    }
  } finally {
    page.off("requestfailed", noteFailure);
  }
}

/** Stores the token as an earlier sign-in in this tab would. The browser's error page stores nothing. */
export async function signedIn(page: Page, token: string): Promise<void> {
  await page.addInitScript((given) => {
    const { protocol } = (globalThis as unknown as { location: URL }).location;
    if (protocol === "chrome-error:") return;
    if (sessionStorage.getItem("orch.token") === null) sessionStorage.setItem("orch.token", given);
  }, token);
}

/** Signs in through the form. */
export async function signIn(page: Page, origin: string, token: string): Promise<void> {
  await goTo(page, `${origin}/ui/`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}
