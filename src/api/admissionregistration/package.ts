// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.admissionregistration.v1", group: "admissionregistration", branded: true, version: "v1" });
