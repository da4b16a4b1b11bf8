/** What the bundle has in place of what nothing of ours uses, and that a package asks for while it loads. */
export function parsePhoneNumber() {
  refuse();
}

export function isStrongPassword() {
  refuse();
}

export function getMachineId() {
  refuse();
}

function refuse() {
  throw new Error('this is left out of the bundle (infra/bundle.mjs)');
}
