/** Replaces a package in the bundle (infra/bundle.mjs): the rule that calls it is not used here. */
export function parsePhoneNumber() {
  throw new Error('phone numbers are left out of the bundle (infra/bundle.mjs)');
}
