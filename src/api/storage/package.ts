// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.storage.v1", group: "storage", branded: true, version: "v1" });
