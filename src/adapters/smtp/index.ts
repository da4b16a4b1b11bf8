/** Mails over SMTP, for notices of alerts and for messages of the queue. */
export { MailingOut } from './mailing-out.js';
export { SmtpMailSender, smtpSenderOf } from './smtp-mail-sender.js';
