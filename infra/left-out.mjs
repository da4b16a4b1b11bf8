/** What the bundle has of a package that nothing of ours uses, and that another package asks for while it loads. */
export function parsePhoneNumber() {
  refuse();
}

export function isStrongPassword() {
  refuse();
}

function refuse() {
  throw new Error('this package is left out of the bundle (infra/bundle.mjs)');
}
