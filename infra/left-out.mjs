/** Replaces parts of packages in the bundle (infra/bundle.mjs) that are not used here. */
export function parsePhoneNumber() {
  throw new Error('phone numbers are left out of the bundle (infra/bundle.mjs)');
}

/** Types of attachments: notices of alerts have none. */
export const detectMimeType = () => 'application/octet-stream';
export const detectExtension = () => 'bin';
