// A filter of the request pipeline.
import type { Step } from "#http";
import type { ApiCall } from "#endpoints";

export type Filter = Step<ApiCall>;
