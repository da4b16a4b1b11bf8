/** Replaces parts of packages in the bundle (infra/bundle.mjs) that are not used here. */
export function parsePhoneNumber() {
  throw new Error('phone numbers are left out of the bundle (infra/bundle.mjs)');
}

/** Types of attachments: notices of alerts have none. */
export const detectMimeType = () => 'application/octet-stream';
export const detectExtension = () => 'bin';

/** Credentials of a person's sign-in (the last two are names that the SDK imports). */
const noSignIn = () => async () => {
  throw new Error('sign-ins with a browser are left out of the bundle (infra/bundle.mjs): set MILLRACE_BACKUP_S3_KEY_ID');
};
export { noSignIn as fromSSO, noSignIn as fromLoginCredentials };
