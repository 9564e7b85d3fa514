import { pageSuite } from "./page.fixture.ts";

pageSuite("kubernetes");
