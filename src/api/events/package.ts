// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.events.v1", group: "events", branded: true, version: "v1" });
