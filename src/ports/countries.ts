/** The port to the table of countries by IP address. */

export interface Countries {
  /**
   * The country of an address, ISO 3166-1 alpha-2. The configured one for an address that the table does not
   * have, that is not public, or that is unknown (undefined).
   */
  countryOf(address: string | undefined): Promise<string>;
}
