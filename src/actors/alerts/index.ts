export { AlertNotices } from './alert-notices.js';
export { firingSubjects } from './alert-readings.js';
export { AlertTeller } from './alert-teller.js';
