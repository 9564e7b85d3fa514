// Validation of signer names.
import { type FieldError, invalidValue, required, tooLong } from "#base";
import { dns1123LabelProblems, dns1123SubdomainProblems } from "#schema";

const maxDomainLength = 253;
const maxSignerLength = 253 + 253 + 63 + 2;

/** Validates a signer name, `example.com/name`: a domain of at least two labels, and a path. */
export function signerErrors(signer: string, field: string): FieldError[] {
  if (!signer) return [required(field)];
  const [domain = "", path, ...rest] = signer.split("/");
  if (path === undefined || rest.length > 0)
    return [
      invalidValue(
        field,
        signer,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ];
  const errors = domain.length > maxDomainLength ? [tooLong(field, domain, maxDomainLength)] : [];
  const firstWrong = (text: string, problems: (part: string) => readonly string[]): FieldError[] => {
    const part = text.split(".").find((item) => problems(item).length > 0);
    return part === undefined ? [] : problems(part).map((detail) => invalidValue(field, text, detail));
  };
  errors.push(...firstWrong(domain, dns1123LabelProblems));
  if (!domain.includes("."))
    errors.push(
      invalidValue(field, domain, "should be a domain with at least two segments separated by dots"),
    );
  errors.push(...firstWrong(path, dns1123SubdomainProblems));
  return signer.length > maxSignerLength ? [...errors, tooLong(field, signer, maxSignerLength)] : errors;
}
