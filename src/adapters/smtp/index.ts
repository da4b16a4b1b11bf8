/** Mails over SMTP, for notices of alerts. */
export { SmtpMailSender } from './smtp-mail-sender.js';
