// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.admission.v1", group: "admission", branded: true, version: "v1" });
