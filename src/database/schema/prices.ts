/** The tables of the prices of messages. They belong to the service, not to an organization. */

export interface PriceTables {
  message_rate_tables: { currency: string; effective_from: string };
  message_rates: {
    currency: string;
    /** ISO 3166, or "other". */
    country: string;
    /** In millionths of the currency, as the other rates. */
    marketing: number;
    utility: number;
    authentication: number;
    service: number;
  };
}
